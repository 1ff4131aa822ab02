package io.rdmacomm.comm.statistics;

/// The state of the [io.rdmacomm.comm.SharedReceives] of a session at one moment.
///
/// @param channels data channels that are open
/// @param posted receives that are posted
/// @param kept messages that have arrived and are not closed
/// @param lent receives that channels have beyond the guaranteed ones, including those of kept messages
/// @param refills how often fewer than a quarter of the receives were posted, so that the device reported it and the
///         session posted all that were free
public record SharedReceiveStatistics(int channels, int posted, int kept, int lent, long refills) {}
