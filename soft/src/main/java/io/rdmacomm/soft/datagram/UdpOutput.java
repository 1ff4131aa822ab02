package io.rdmacomm.soft.datagram;

import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.OutgoingDatagram;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/// Sends the datagrams of one queue pair through its own socket, so that queue pairs share no lock.
public final class UdpOutput implements DatagramOutput {
    private static final SafeLogger LOGGER = SafeLogger.of(UdpOutput.class);

    private final DatagramChannel channel;
    private final int number;
    private final int lid;
    private final int longest;
    private final ByteBuffer packet;
    private final MemorySegment memory;

    /// An output for the queue pair `number`.
    ///
    /// @param address of the device
    /// @param lid of the context
    /// @param longest the largest payload
    /// @throws IOException if there is no socket left, or no such address
    public UdpOutput(InetAddress address, int lid, int longest, int number) throws IOException {
        this.lid = lid;
        this.longest = longest;
        this.number = number;
        this.packet = ByteBuffer.allocateDirect(DatagramFormat.HEADER_BYTES + longest);
        this.memory = MemorySegment.ofBuffer(packet);
        this.channel = SystemSockets.openDatagramSocket();
        boolean complete = false;
        try {
            channel.configureBlocking(false);
            channel.bind(new InetSocketAddress(address, 0));
            complete = true;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    @Override
    public int longest() {
        return longest;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public int payloadAt(OutgoingDatagram datagram) {
        return DatagramFormat.HEADER_BYTES;
    }

    @Override
    public void send(OutgoingDatagram datagram, DatagramAddress to) {
        packet.clear();
        packet.putInt(DatagramFormat.MAGIC_AT, DatagramFormat.MAGIC);
        packet.putInt(DatagramFormat.DESTINATION, datagram.destination);
        packet.putInt(DatagramFormat.SOURCE, number);
        packet.putInt(DatagramFormat.QUEUE_KEY, datagram.queueKey);
        packet.putInt(DatagramFormat.IMMEDIATE, datagram.immediate);
        packet.putShort(DatagramFormat.SOURCE_LID, (short) lid);
        packet.put(DatagramFormat.TRAFFIC_CLASS, (byte) to.trafficClass());
        packet.put(DatagramFormat.FLAGS, (byte) ((datagram.hasImmediate ? DatagramFormat.FLAG_IMMEDIATE : 0)
                | (datagram.solicited ? DatagramFormat.FLAG_SOLICITED : 0)));
        packet.putInt(DatagramFormat.HOP_LIMIT, to.hopLimit() << 24);
        packet.limit(DatagramFormat.HEADER_BYTES + datagram.bytes);
        try {
            int _ = channel.send(packet, to.socket());
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.TRACE, "a datagram is lost: the network does not take it", e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a UDP socket", e);
        }
    }
}
