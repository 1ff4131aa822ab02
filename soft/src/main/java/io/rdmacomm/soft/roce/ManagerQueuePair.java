package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.transport.OutgoingDatagram;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/// Queue pair 1 of an address, through which the communication managers of hosts exchange messages (IBTA 13.3).
final class ManagerQueuePair {
    /// Its number, the same at all hosts.
    static final int NUMBER = 1;

    private static final int QUEUE_KEY = 0x8001_0000;

    private final CommunicationManager manager;
    private final DatagramPackets output;
    private final OutgoingDatagram datagram = new OutgoingDatagram();

    /// @param wakeup makes the engines check the time
    ManagerQueuePair(PacketSocket socket, InetAddress local, PathMtu mtu, Runnable wakeup) {
        this.output = new DatagramPackets(socket, ManagementDatagram.BYTES, NUMBER);
        this.manager = new CommunicationManager(Gid.of(local), mtu, this::send, wakeup);
    }

    CommunicationManager manager() {
        return manager;
    }

    /// Under the lock of the manager.
    private void send(InetAddress to, ByteBuffer message) {
        datagram.destination = NUMBER;
        datagram.queueKey = QUEUE_KEY;
        datagram.bytes = ManagementDatagram.BYTES;
        MemorySegment.copy(
                MemorySegment.ofBuffer(message),
                0,
                output.memory(),
                output.payloadAt(datagram),
                ManagementDatagram.BYTES);
        output.send(datagram, new InetSocketAddress(to, PacketSocket.PORT));
    }

    /// A packet has arrived; the receiving thread.
    ///
    /// @return false if it was not for the manager
    boolean arrived(Packet packet, PacketInput from) {
        return packet.queueKey == QUEUE_KEY
                && packet.payloadBytes == ManagementDatagram.BYTES
                && manager.arrived(address(from.host()), from.buffer().slice(packet.payloadAt, packet.payloadBytes));
    }

    private static InetAddress address(int host) {
        try {
            return InetAddress.getByAddress(
                    ByteBuffer.allocate(Integer.BYTES).putInt(host).array());
        } catch (UnknownHostException e) {
            throw new AssertionError("an IPv4 address has four bytes", e);
        }
    }
}
