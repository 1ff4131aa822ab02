package io.rdmacomm.soft.roce.mad;

/// How many READs and atomics a side of a connection can have in flight.
///
/// @param accepts the peer's, its responder resources
/// @param makes its own, its initiator depth
public record ReadDepths(int accepts, int makes) {}
