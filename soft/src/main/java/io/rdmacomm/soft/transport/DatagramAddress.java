package io.rdmacomm.soft.transport;

import java.net.InetSocketAddress;

/// Where datagrams of an address handle go.
///
/// @param socket the UDP port of the receiving device
/// @param domain the number of the protection domain of the handle
/// @param trafficClass what the receiver finds in its header, if the transport carries it
/// @param hopLimit what the receiver finds in its header, if the transport carries it
public record DatagramAddress(InetSocketAddress socket, int domain, int trafficClass, int hopLimit) {}
