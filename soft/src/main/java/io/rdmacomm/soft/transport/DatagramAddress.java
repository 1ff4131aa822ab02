package io.rdmacomm.soft.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// The destination of datagrams that are sent with one address handle.
///
/// @param socket the UDP port of the receiving device
/// @param own the socket that sends them; null for the shared one
/// @param domain the number of the protection domain of the handle
/// @param trafficClass the receiver sees it in its header, if the transport carries it
/// @param hopLimit the receiver sees it in its header, if the transport carries it
public record DatagramAddress(
        InetSocketAddress socket, @Nullable GroupSocket own, int domain, int trafficClass, int hopLimit) {}
