package io.rdmacomm.soft.iwarp;

/// The terms that the two sides of a connection have agreed on.
///
/// @param checksum whether frames carry a checksum
/// @param inboundReads how many READs and atomics of the peer this side answers at a time
/// @param outboundReads how many READs and atomics this side may have outstanding
/// @param readyToReceive the frame that the initiator sends first
public record MpaTerms(boolean checksum, int inboundReads, int outboundReads, ReadyToReceive readyToReceive) {}
