package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;

/// Finds out whether a device can register DMA buffers. No attribute tells: the first query tries it with an
/// invalid file descriptor. Libraries, drivers and kernels without the call report that; the others check the file.
/// Thread-safe.
final class DmaBufferTrial {
    private static final int NO_FILE = -1;
    private static final long PAGE = 4096;

    private final NativeContext device;
    private boolean known;
    private boolean possible;

    DmaBufferTrial(NativeContext device) {
        this.device = device;
    }

    synchronized boolean isPossible() {
        if (!known) {
            tryOnce();
        }
        return possible;
    }

    private void tryOnce() {
        LibIbverbs library = device.library();
        long domain = library.allocateDomain(device.address());
        if (domain <= 0) {
            return; // no region can be made now; the next question is another trial
        }
        possible = !isAbsent((int) -library.registerDmaBuffer(domain, 0, PAGE, 0, NO_FILE, 0));
        known = true;
        var _ = library.deallocateDomain(domain);
    }

    /// Whether this errno means that the call does not exist.
    static boolean isAbsent(int errno) {
        return errno == LibCLayout.EOPNOTSUPP || errno == LibCLayout.ENOSYS || errno == LibCLayout.EPROTONOSUPPORT;
    }
}
