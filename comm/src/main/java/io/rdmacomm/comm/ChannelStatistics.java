package io.rdmacomm.comm;

/// A channel's counters at one moment. They are counted without synchronisation, so that two of them may be
/// a few operations apart.
///
/// @param operations operations that were taken
/// @param completed operations that ended well
/// @param failed operations that ended otherwise, flushed ones included
/// @param bytesOut bytes of SENDs and WRITEs that were taken
/// @param bytesRead bytes of READs that were taken
/// @param messages messages that arrived
/// @param notices notices of WRITEs that arrived
/// @param bytesIn bytes of messages and of WRITEs with notice that arrived
/// @param windowStalls operations that were not taken at once because the send window was full
/// @param creditStalls operations that were not taken at once because the peer had no receive left
/// @param creditUpdates how often the peer was told of new receives
/// @param handlerErrors exceptions that handlers threw
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
        long handlerErrors) {}
