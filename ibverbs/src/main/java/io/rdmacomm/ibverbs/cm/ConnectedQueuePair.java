package io.rdmacomm.ibverbs.cm;

/// A queue pair of this provider as the connection manager sees it: the kernel may have changed its state.
public interface ConnectedQueuePair {
    /// The kernel has connected it, as it does on iWARP: it is in READY_TO_SEND.
    void connected();

    /// It may have failed: checks the state of the device.
    void noticeState();
}
