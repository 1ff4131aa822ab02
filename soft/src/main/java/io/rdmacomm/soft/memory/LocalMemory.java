package io.rdmacomm.soft.memory;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.KeyTable;
import io.rdmacomm.soft.mapped.SharedWords;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The memory that a context has registered: its regions, its windows, and the key table in the control file, which
/// peers on this host read directly.
public final class LocalMemory {
    private final MemorySegment control;
    private final KeyTable keys;
    private final LocalRegions regions = new LocalRegions();
    private final Map<Long, LocalWindow> windows = new ConcurrentHashMap<>();

    /// Nothing is registered yet.
    public LocalMemory(ControlFile control) {
        this.control = control.memory();
        this.keys = new KeyTable(control);
    }

    /// The control file.
    public MemorySegment control() {
        return control;
    }

    /// Allocates a key that is not valid yet.
    ///
    /// @throws IOException if there is no free key
    public int allocateKey() throws IOException {
        return keys.allocate();
    }

    /// Gives back a key that is no longer valid.
    public void freeKey(int key) {
        keys.free(key);
    }

    /// Peers can no longer find the file that the entry of this key stands for, which is not valid.
    public void forgetFile(int key) {
        keys.forgetFile(key);
    }

    /// Whether a key of this context is valid now.
    public boolean isValid(int key) {
        long word = SharedWords.acquire(control, ControlLayout.key(key) + ControlLayout.KEY_WORD);
        return (int) word == key && word != 0;
    }

    /// The region with this key, or null.
    public @Nullable LocalRegion region(int key) {
        return regions.find(key);
    }

    /// The region with this key, or null if it must not be used for this: it is of another protection domain, lacks a
    /// right, or ends before the range does.
    ///
    /// @param rights as bits
    public @Nullable LocalRegion usable(int key, int domain, int rights, long address, long length) {
        LocalRegion region = regions.find(key);
        boolean allowed = region != null
                && region.domain() == domain
                && region.allows(rights)
                && region.contains(address, length);
        return allowed ? region : null;
    }

    /// Makes a region and its key usable.
    public void add(LocalRegion region) {
        regions.put(region.key(), region);
        keys.grant(
                region.key(), KeyTable.REGION, region.grant(region.address(), 0, region.length(), region.access(), 0));
    }

    /// Makes the key of a region invalid. Operations that began before may still use the memory.
    public void remove(LocalRegion region) {
        keys.revoke(region.key());
        regions.put(region.key(), null);
    }

    /// The window with this handle, or null.
    @Nullable
    LocalWindow window(long handle) {
        return windows.get(handle);
    }

    /// Makes a window visible to the requests that bind it.
    public void add(LocalWindow window) {
        windows.put(window.handle(), window);
    }

    /// Forgets a window, whose key is invalid.
    public void remove(LocalWindow window) {
        windows.remove(window.handle());
    }

    /// Whether a window is bound now; a peer may have invalidated it.
    boolean isBound(LocalWindow window) {
        synchronized (window) {
            if (!isValid(window.key())) {
                window.detach();
            }
            return window.isAttached();
        }
    }

    /// Binds a window to a part of a region, with a new key.
    ///
    /// @param queuePair the only queue pair that may use it, 0 for all of the protection domain
    void bind(LocalWindow window, int key, LocalRegion region, long address, long length, int access, int queuePair) {
        unbind(window);
        window.attach(key, region);
        keys.grant(key, KeyTable.WINDOW, region.grant(address, region.offsetOf(address), length, access, queuePair));
    }

    /// Makes the present key of a window invalid. Does not wait for operations in flight, as it is on the data
    /// path.
    public void unbind(LocalWindow window) {
        synchronized (window) {
            keys.revoke(window.key());
            window.detach();
        }
    }
}
