package io.rdmacomm.soft.roce.mad;

/// How many READs and atomics a side of a connection can have in flight.
///
/// @param accepts those of the peer, its responder resources
/// @param makes those of its own, its initiator depth
public record ReadDepths(int accepts, int makes) {}
