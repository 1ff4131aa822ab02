package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.SocketDevice;
import io.rdmacomm.nio.rsocket.SocketFailures;
import java.io.IOException;
import java.net.InetSocketAddress;

/// An operation of the device at an address, and whether TCP takes over if the device fails.
///
/// @param device the device
/// @param what the operation, for the report
/// @param address the address
/// @param orTcp whether TCP takes over if the device fails
/// @param decisions the report
record RdmaService(SocketDevice device, String what, InetSocketAddress address, boolean orTcp, Decisions decisions) {
    /// The operation of a client.
    static final String CONNECT = "connect to";

    /// Counts a success of the device.
    void succeeded() {
        decisions.note(what, address, Decisions.RDMA);
    }

    /// Counts a failure of the device.
    ///
    /// @throws IOException the cause, if TCP does not take over
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

    /// Advice for a client whose server may use TCP for the same address.
    private String advice() {
        String name = address.getAddress().getHostAddress();
        String port = ":" + address.getPort();
        return what.equals(CONNECT)
                ? ". A server that listens there with TCP needs the agent and a rule that names its address: 0.0.0.0 or "
                        + port + "; or add the rule !" + (name.contains(":") ? "[" + name + "]" : name) + port + " here"
                : "";
    }
}
