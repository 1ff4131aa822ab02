package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.SocketDevice;
import io.rdmacomm.nio.rsocket.SocketFailures;
import java.io.IOException;
import java.net.InetSocketAddress;

/// What the device is to do at an address, and whether TCP does it if the device cannot.
///
/// @param device the device
/// @param what what is to be done, for the report
/// @param address where
/// @param orTcp whether TCP does it if the device cannot
/// @param decisions the report
record RdmaService(SocketDevice device, String what, InetSocketAddress address, boolean orTcp, Decisions decisions) {
    /// What a client does.
    static final String CONNECT = "connect to";

    /// Notes that the device has done it.
    void succeeded() {
        decisions.note(what, address, Decisions.RDMA);
    }

    /// Notes that the device could not do it.
    ///
    /// @throws IOException the cause if TCP must not do it
    void failed(IOException cause) throws IOException {
        decisions.note(
                what,
                address,
                (orTcp ? "TCP, because RDMA failed: " : "RDMA failed: ")
                        + SocketFailures.reason(cause)
                        + (orTcp ? "" : advice()));
        if (!orTcp) {
            throw cause;
        }
    }

    /// The two ends may have chosen differently.
    private String advice() {
        String name = address.getAddress().getHostAddress();
        String port = ":" + address.getPort();
        return what.equals(CONNECT)
                ? ". A server that listens there with TCP needs the agent and a rule that names its address: 0.0.0.0 or "
                        + port + "; or add the rule !" + (name.contains(":") ? "[" + name + "]" : name) + port + " here"
                : "";
    }
}
