package io.rdmacomm.soft.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Where datagrams of an address handle go.
///
/// @param socket the UDP port of the receiving device
/// @param own sends them; null for the socket that sends all others
/// @param domain the number of the protection domain of the handle
/// @param trafficClass what the receiver finds in its header, if the transport carries it
/// @param hopLimit what the receiver finds in its header, if the transport carries it
public record DatagramAddress(
        InetSocketAddress socket, @Nullable GroupSocket own, int domain, int trafficClass, int hopLimit) {}
