package io.rdmacomm.comm.data;

/// A channel's counters. Each is written by one thread at a time: those of what goes out under the send lock,
/// the others by the polling thread. They are read without synchronization.
public final class ChannelCounters {
    /// Operations that were accepted.
    public long operations;
    /// Operations that succeeded.
    public long completed;
    /// Operations that failed or were flushed.
    public long failed;
    /// Bytes of SENDs and WRITEs.
    public long bytesOut;
    /// Bytes of READs.
    public long bytesRead;
    /// Messages that arrived.
    public long messages;
    /// Notices that arrived.
    public long notices;
    /// Bytes of messages and of WRITEs with notice that arrived.
    public long bytesIn;
    /// How often the send window was full.
    public long windowStalls;
    /// How often the peer had no receive left.
    public long creditStalls;
    /// How often the peer was told of new receives.
    public long creditUpdates;
    /// Exceptions that handlers threw.
    public long handlerErrors;

    void started(int kind, long bytes) {
        operations++;
        if (kind == Operation.READ) {
            bytesRead += bytes;
        } else if (!Operation.isAtomic(kind)) {
            bytesOut += bytes;
        }
    }

    void arrived(long bytes, boolean notice) {
        if (notice) {
            notices++;
        } else {
            messages++;
        }
        bytesIn += bytes;
    }
}
