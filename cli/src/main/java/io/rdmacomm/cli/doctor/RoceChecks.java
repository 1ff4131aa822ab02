package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The checks of `rdmacomm doctor` on a software device with RoCE v2: its UDP port, its MTU and its receive buffer.
final class RoceChecks {
    static final String PORT = "RoCE port";

    private static final String MTU = "RoCE MTU";
    private static final String BUFFER = "RoCE buffer";
    private static final Path PROCESSES = Path.of("/proc");
    private static final Path KERNEL = Path.of("/sys/module/rdma_rxe");
    private static final int ENOUGH_BYTES = 4 << 20;
    /// A packet in the receive buffer counts with all memory that Linux uses for it: its payload, headers and
    /// bookkeeping, rounded up to a power of two, plus `struct sk_buff`.
    private static final int ADMINISTRATION = 380;
    private static final int SOCKET_BUFFER = 256;
    /// Linux doubles the size that a program asks for (socket(7)).
    private static final int DOUBLED = 2;

    private RoceChecks() {}

    static boolean isRoce(Device device) {
        return DeviceChecks.isSoftware(device) && device.transport() == TransportType.INFINIBAND;
    }

    /// The checks on a device that is open.
    static List<Finding> of(Context context) {
        InetAddress address = context.gid(1, 0).address();
        PathMtu mtu = context.port(1).activeMtu();
        List<Finding> findings = new ArrayList<>();
        try {
            NetworkInterface network = NetworkInterface.getByInetAddress(address);
            String name = network == null ? "loopback" : network.getName();
            findings.add(Finding.ok(
                    PORT,
                    "this process has UDP port " + RoceAnswer.ROCE_PORT + " of " + address.getHostAddress() + " ("
                            + name + ")"));
            if (network != null) {
                findings.add(mtu(name, network.getMTU(), mtu));
            }
            findings.add(buffer(grantedBytes(), mtu));
        } catch (IOException e) {
            findings.add(Finding.warn(PORT, "the network cannot be examined: " + e.getMessage(), ""));
        }
        return findings;
    }

    /// Why a device cannot be opened; empty if the reason is not its UDP port.
    static List<Finding> unopened(Device device, VerbException failure) {
        return isRoce(device) && failure.errno() == Errno.EADDRINUSE
                ? List.of(RocePortOwner.taken(PROCESSES, KERNEL, failure.getMessage()))
                : List.of();
    }

    /// Reports the effect of the interface's MTU on RoCE.
    static Finding mtu(String network, int bytes, PathMtu mtu) {
        String text = network + " has MTU " + bytes + ", so a packet carries up to " + mtu.bytes() + " bytes; give the"
                + " interfaces of all peers the same MTU";
        return Finding.ok(
                MTU,
                mtu == PathMtu.MTU_4096
                        ? text
                        : text + " (faster, if the network takes it: ip link set dev " + network + " mtu 4200)");
    }

    /// Whether bursts of peers fit into the receive buffer.
    ///
    /// @param granted the size that the system has granted
    static Finding buffer(int granted, PathMtu mtu) {
        int packet = Integer.highestOneBit(mtu.bytes() + ADMINISTRATION - 1) * 2 + SOCKET_BUFFER;
        String text = ByteSize.format(granted) + ", about " + (long) granted * DOUBLED / packet + " packets of "
                + mtu.bytes() + " bytes";
        return granted < ENOUGH_BYTES
                ? Finding.warn(
                        BUFFER,
                        text + ", and each connection of a peer sends up to 128 at once",
                        "raise the limit on the host, also for its containers: sysctl -w net.core.rmem_max="
                                + ENOUGH_BYTES)
                : Finding.ok(BUFFER, text);
    }

    /// The longest receive buffer, up to what the device asks for.
    private static int grantedBytes() throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.setReceiveBufferSize(ENOUGH_BYTES);
            return Math.min(socket.getReceiveBufferSize(), ENOUGH_BYTES);
        }
    }
}
