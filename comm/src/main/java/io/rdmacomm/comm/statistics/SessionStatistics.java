package io.rdmacomm.comm.statistics;

import io.rdmacomm.verbs.statistics.ChannelStatistics;

/// The counters of a session at one moment.
///
/// @param endPoints endpoints that are open
/// @param setUp endpoints that were set up so far
/// @param failed endpoints that have failed since they were set up, and are closed
/// @param handlerErrors exceptions of handlers and listeners
/// @param registeredBytes the memory that is registered now, in bytes; see
///        [io.rdmacomm.comm.SessionOptions#withMemoryLimit]
/// @param channels the sum over all data channels, including those of closed endpoints
public record SessionStatistics(
        int endPoints, long setUp, long failed, long handlerErrors, long registeredBytes, ChannelStatistics channels) {}
