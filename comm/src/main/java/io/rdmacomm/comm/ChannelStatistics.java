package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ChannelCounters;

/// The counters of a channel at one moment, or the sum of several channels. They are counted without
/// synchronization, so that two of them may be a few operations apart. They only grow.
///
/// WRITEs without notice and READs of the peer are not counted: this side does not see them.
///
/// @param operations operations that were accepted
/// @param completed operations that succeeded
/// @param failed operations that failed or were flushed
/// @param bytesOut bytes of SENDs and WRITEs that were accepted
/// @param bytesRead bytes of READs that were accepted
/// @param messages messages that arrived
/// @param notices notices of WRITEs that arrived
/// @param bytesIn bytes of messages and of WRITEs with notice that arrived
/// @param windowStalls operations that were not accepted at once because the send window was full
/// @param creditStalls operations that were not accepted at once because the peer had no receive left
/// @param creditUpdates credit updates that were sent to the peer
/// @param handlerErrors exceptions thrown by handlers
public record ChannelStatistics(
        long operations,
        long completed,
        long failed,
        long bytesOut,
        long bytesRead,
        long messages,
        long notices,
        long bytesIn,
        long windowStalls,
        long creditStalls,
        long creditUpdates,
        long handlerErrors) {
    static final ChannelStatistics NONE = new ChannelStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    static ChannelStatistics of(ChannelCounters counters) {
        return new ChannelStatistics(
                counters.operations,
                counters.completed,
                counters.failed,
                counters.bytesOut,
                counters.bytesRead,
                counters.messages,
                counters.notices,
                counters.bytesIn,
                counters.windowStalls,
                counters.creditStalls,
                counters.creditUpdates,
                counters.handlerErrors);
    }

    /// The sum of both.
    public ChannelStatistics plus(ChannelStatistics other) {
        return new ChannelStatistics(
                operations + other.operations,
                completed + other.completed,
                failed + other.failed,
                bytesOut + other.bytesOut,
                bytesRead + other.bytesRead,
                messages + other.messages,
                notices + other.notices,
                bytesIn + other.bytesIn,
                windowStalls + other.windowStalls,
                creditStalls + other.creditStalls,
                creditUpdates + other.creditUpdates,
                handlerErrors + other.handlerErrors);
    }
}
