package io.rdmacomm.ibverbs.cm;

import org.jspecify.annotations.Nullable;

/// A queue pair of this provider as the connection manager sees it: the kernel may have changed its state.
public interface ConnectedQueuePair {
    /// The open queue pairs of a device.
    interface Table {
        /// The queue pair with this number; null if it is not open.
        @Nullable
        ConnectedQueuePair numbered(int number);
    }

    /// Its number.
    int number();

    /// The kernel has connected it (on iWARP): it is in READY_TO_SEND.
    void connected();

    /// It may have failed: checks the state of the device.
    void noticeState();
}
