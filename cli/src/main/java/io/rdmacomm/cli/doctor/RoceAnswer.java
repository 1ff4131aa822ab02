package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/// Whether a host answers RoCE v2 packets of a software device. The host needs no program: the connection manager
/// of every RoCE device answers a request for a datagram service. Even a rejection proves that packets with correct
/// checksums pass both ways.
final class RoceAnswer implements Check {
    /// The UDP port of RoCE v2.
    static final int ROCE_PORT = 4791;

    /// No program offers a datagram service under this number.
    private static final int SERVICE = 1;

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration PROBE_TIMEOUT = Duration.ofMillis(500);
    private static final String WRONG_CHECKSUMS = "roce_wrong_checksums";

    private final String host;

    /// @param host its name or address
    RoceAnswer(String host) {
        this.host = host;
    }

    @Override
    public String name() {
        return "RoCE at " + host;
    }

    @Override
    public Verdict run(CheckSetup setup) throws IOException {
        Optional<InetAddress> address = Arrays.stream(InetAddress.getAllByName(host))
                .filter(Inet4Address.class::isInstance)
                .findFirst();
        if (address.isEmpty()) {
            return Verdict.failed(
                    "an IPv4 address", host + " has only IPv6 addresses", "name an IPv4 address of the peer");
        }
        if (reachesOnlyThisHost(setup)
                && NetworkInterface.getByInetAddress(address.get()) == null
                && !address.get().isLoopbackAddress()) {
            return Verdict.failed(
                    "a device with an address of the network",
                    "it has a loopback address, and reaches only this host",
                    "bind it to another address: -Drdmacomm.soft.devices="
                            + setup.context().device().name() + "=ADDRESS?transport=roce");
        }
        long wrong = wrongChecksums(setup);
        long begin = System.nanoTime();
        if (answers(setup, address.get())) {
            return Verdict.ok(
                    "answers after %.1f ms: packets arrive both ways".formatted((System.nanoTime() - begin) / 1e6));
        }
        return silent(address.get(), wrongChecksums(setup) > wrong);
    }

    private static boolean reachesOnlyThisHost(CheckSetup setup) {
        return setup.context().gid(setup.port(), 0).address().isLoopbackAddress();
    }

    private static boolean answers(CheckSetup setup, InetAddress address) {
        Duration timeout = setup.timeout().compareTo(TIMEOUT) < 0 ? setup.timeout() : TIMEOUT;
        try (ConnectionManager manager = ConnectionManager.open(setup.context())) {
            var _ = manager.lookUp(new InetSocketAddress(address, SERVICE), new byte[0], timeout);
            return true;
        } catch (ConnectionRejectedException _) {
            return true;
        } catch (PeerUnreachableException | DeadlineException _) {
            return false;
        }
    }

    private static long wrongChecksums(CheckSetup setup) {
        return setup.context().counters(setup.port()).getOrDefault(WRONG_CHECKSUMS, 0L);
    }

    private static Verdict silent(InetAddress address, boolean wrongChecksums) {
        if (wrongChecksums) {
            return Verdict.failed(
                    "an answer",
                    "packets with a wrong checksum came (" + WRONG_CHECKSUMS + ")",
                    "something on the way translates addresses or ports (NAT); RoCE needs a path without it");
        }
        return probe(address);
    }

    /// Finds out why the host is silent: perhaps the port is closed, or there is no route.
    private static Verdict probe(InetAddress address) {
        String peer = address.getHostAddress();
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(address, ROCE_PORT));
            socket.setSoTimeout(Math.toIntExact(PROBE_TIMEOUT.toMillis()));
            DatagramPacket packet = new DatagramPacket(new byte[1], 1);
            socket.send(packet);
            socket.receive(packet);
        } catch (PortUnreachableException _) {
            return Verdict.failed(
                    "an answer",
                    "UDP port " + ROCE_PORT + " of " + peer + " is closed",
                    "the peer has no RoCE v2 there: start a program with its software device, or make one of the"
                            + " kernel: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0");
        } catch (SocketTimeoutException _) {
            // No answer: a device that receives such a packet stays silent.
        } catch (IOException e) {
            return Verdict.failed(
                    "an answer",
                    "there is no way to " + peer + ": " + FailureText.of(e),
                    "check the address, the interface and the route: ping " + peer + ", ip route get " + peer);
        }
        return Verdict.failed(
                "an answer",
                peer + " is silent",
                "check that the host is up: ping " + peer
                        + "; it needs RoCE v2 at this address (on Linux also the module"
                        + " rdma_ucm); firewalls must let UDP port "
                        + ROCE_PORT + " pass both ways; nothing may translate addresses (NAT), as bridge networks of"
                        + " containers, WSL2 and QEMU do by default");
    }
}
