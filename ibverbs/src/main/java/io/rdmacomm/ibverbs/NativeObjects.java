package io.rdmacomm.ibverbs;

import io.rdmacomm.verbs.Resource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Finds the object of a C struct: events name the address of the struct.
final class NativeObjects {
    private final Map<Long, Resource> byAddress = new ConcurrentHashMap<>();

    void add(long address, Resource object) {
        byAddress.put(address, object);
    }

    /// Forgets an object; before its struct is freed, whose address the next one may have.
    void remove(long address) {
        byAddress.remove(address);
    }

    @Nullable
    Resource find(long address) {
        return byAddress.get(address);
    }
}
