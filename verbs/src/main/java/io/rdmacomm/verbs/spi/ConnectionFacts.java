package io.rdmacomm.verbs.spi;

import java.net.InetSocketAddress;

/// The facts of a peer's request or of a connection. They do not change.
///
/// @param local the address on this side, with the actual port
/// @param remote the address of the peer
/// @param privateData of the peer's request or reply; not copied
/// @param responderResources the number of READs and atomics that the peer may have in flight; in a request, that it
///         wants to have
/// @param initiatorDepth the number that this side may have in flight
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ConnectionFacts(
        InetSocketAddress local,
        InetSocketAddress remote,
        byte[] privateData,
        int responderResources,
        int initiatorDepth) {
    /// The same with the depths that both sides have agreed on.
    public ConnectionFacts withDepths(int agreedResources, int agreedDepth) {
        return new ConnectionFacts(local, remote, privateData, agreedResources, agreedDepth);
    }
}
