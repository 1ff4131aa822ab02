package io.rdmacomm.soft.datagram;

import java.net.InetSocketAddress;

/// Where datagrams of an address handle go.
///
/// @param socket the UDP port of the other context: its GID and its LID
/// @param domain the number of the protection domain of the handle
/// @param trafficClass what the receiver finds in its header
/// @param hopLimit what the receiver finds in its header
public record DatagramAddress(InetSocketAddress socket, int domain, int trafficClass, int hopLimit) {}
