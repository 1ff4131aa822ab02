package io.rdmacomm.ibverbs.objects;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The open memory windows of a device, and how many of them are bound to its regions. Requests name both by the
/// addresses of their structs. Thread-safe.
final class Windows {
    private final Map<Long, IbvMemoryWindow> open = new ConcurrentHashMap<>();
    private final Map<Long, Integer> bound = new ConcurrentHashMap<>();

    /// A window was allocated.
    void add(IbvMemoryWindow window) {
        open.put(window.handle(), window);
    }

    /// Removes a window. Call it before its struct is freed: the next one may have its address.
    void remove(IbvMemoryWindow window) {
        open.remove(window.handle());
    }

    /// The window whose struct is at `handle`; null if it is not open.
    @Nullable
    IbvMemoryWindow find(long handle) {
        return open.get(handle);
    }

    /// A window was bound to a region, or unbound from it.
    void count(long region, int difference) {
        bound.merge(region, difference, (before, change) -> before + change == 0 ? null : before + change);
    }

    /// The number of windows that are bound to a region.
    int boundTo(long region) {
        return bound.getOrDefault(region, 0);
    }
}
