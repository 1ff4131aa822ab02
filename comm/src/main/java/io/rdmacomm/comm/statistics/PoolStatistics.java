package io.rdmacomm.comm.statistics;

/// The state of a [io.rdmacomm.comm.BufferPool] at one moment.
///
/// @param pieces pieces that are taken
/// @param bytes their lengths together, as asked for
/// @param registeredBytes the memory of the pool, with what is free in it
/// @param refusals how often there was no room for a piece: null was returned, or a wait has ended by its deadline
public record PoolStatistics(long pieces, long bytes, long registeredBytes, long refusals) {}
