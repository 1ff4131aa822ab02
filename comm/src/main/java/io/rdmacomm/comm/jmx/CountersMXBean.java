package io.rdmacomm.comm.jmx;

/// The counters of a channel, or the sum over several. They only grow.
public interface CountersMXBean {
    /// Operations that were accepted.
    long getOperations();

    /// Operations that succeeded.
    long getCompleted();

    /// Operations that failed or were flushed.
    long getFailed();

    /// Bytes of SENDs and WRITEs that were accepted.
    long getBytesOut();

    /// Bytes of READs that were accepted.
    long getBytesRead();

    /// Messages that arrived.
    long getMessages();

    /// Notices of WRITEs that arrived.
    long getNotices();

    /// Bytes of messages and of WRITEs with notice that arrived.
    long getBytesIn();

    /// Operations that were not accepted at once because the send window was full.
    long getWindowStalls();

    /// Operations that were not accepted at once because the peer had no receive left.
    long getCreditStalls();

    /// Credit updates that were sent to the peer.
    long getCreditUpdates();

    /// Exceptions thrown by handlers.
    long getHandlerErrors();
}
