package io.rdmacomm.tests.cli;

import io.rdmacomm.tests.fixture.LeftOut;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;

/// Devices that speak RoCE at loopback addresses, each in a process of its own.
final class RoceLoopback {
    private RoceLoopback() {}

    /// The JVM option for the device `roce0` at an address.
    static String[] option(String address) throws IOException {
        try (DatagramSocket free = new DatagramSocket(4791, InetAddress.ofLiteral(address))) {
            return new String[] {
                "-Drdmacomm.soft.devices=roce0=" + free.getLocalAddress().getHostAddress() + "?transport=roce"
            };
        } catch (BindException e) {
            throw LeftOut.because(
                    RoceLoopback.class, "UDP port 4791 is taken, most likely by rdma_rxe (rmmod rdma_rxe)");
        }
    }
}
