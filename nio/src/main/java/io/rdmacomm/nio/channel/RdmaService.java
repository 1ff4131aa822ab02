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
    /// Notes that the device has done it.
    void succeeded() {
        decisions.note(what, address, Decisions.RDMA);
    }

    /// Notes that the device could not do it.
    ///
    /// @throws IOException the cause if TCP must not do it
    void failed(IOException cause) throws IOException {
        decisions.note(
                what, address, (orTcp ? "TCP, because RDMA failed: " : "RDMA failed: ") + SocketFailures.reason(cause));
        if (!orTcp) {
            throw cause;
        }
    }
}
