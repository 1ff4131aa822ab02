package io.rdmacomm.soft.datagram;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The UDP port of a context, whose number is its LID: reads datagrams, and passes each to its queue pair. The
/// engine.
public final class DatagramPort implements AutoCloseable {
    /// The number of packets to read before other channels have their turn.
    private static final int MOST_AT_ONCE = 64;
    /// The requested size, limited by the system: packets that do not fit are lost while the engine is busy.
    private static final int RECEIVE_BUFFER = 4 << 20;

    private final DatagramChannel channel;
    private final Gid gid;
    private final IntFunction<IncomingDatagram.@Nullable Target> targets;
    private final int longest;
    private final ByteBuffer buffer;
    private final IncomingDatagram datagram;

    /// Begins to receive.
    ///
    /// @param longest the largest payload
    /// @param targets the queue pairs by number
    /// @throws IOException if the port is taken, this host has no such address, or there is no socket left
    public DatagramPort(
            InetAddress address,
            int port,
            Gid gid,
            int longest,
            Engine engine,
            IntFunction<IncomingDatagram.@Nullable Target> targets)
            throws IOException {
        this.gid = gid;
        this.targets = targets;
        this.longest = longest;
        // One byte more, to detect packets that are too long.
        this.buffer = ByteBuffer.allocateDirect(DatagramFormat.HEADER_BYTES + longest + 1);
        this.datagram = new IncomingDatagram(MemorySegment.ofBuffer(buffer));
        this.channel = SystemSockets.openDatagramSocket();
        boolean complete = false;
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER);
            channel.bind(new InetSocketAddress(address, port));
            var _ = engine.register(channel, SelectionKey.OP_READ, this::ready);
            complete = true;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    private void ready(SelectionKey key) throws IOException {
        for (int i = 0; i < MOST_AT_ONCE; i++) {
            SocketAddress from = channel.receive(buffer.clear());
            if (from == null) {
                return;
            }
            if (from instanceof InetSocketAddress sender && parse(sender)) {
                IncomingDatagram.Target target = targets.apply(datagram.destination);
                if (target != null) {
                    target.arrived(datagram);
                }
            }
        }
    }

    /// Reads the headers of the packet in the buffer.
    ///
    /// @return false if it is not from a software device
    private boolean parse(InetSocketAddress from) {
        int payload = buffer.position() - DatagramFormat.HEADER_BYTES;
        if (payload < 0 || payload > longest || buffer.getInt(DatagramFormat.MAGIC_AT) != DatagramFormat.MAGIC) {
            return false;
        }
        int flags = buffer.get(DatagramFormat.FLAGS);
        int trafficClass = Byte.toUnsignedInt(buffer.get(DatagramFormat.TRAFFIC_CLASS));
        int hopLimit = Byte.toUnsignedInt(buffer.get(DatagramFormat.HOP_LIMIT));
        datagram.payloadAt = DatagramFormat.HEADER_BYTES;
        datagram.payloadBytes = payload;
        datagram.destination = buffer.getInt(DatagramFormat.DESTINATION);
        datagram.source = buffer.getInt(DatagramFormat.SOURCE) & 0xffffff;
        datagram.queueKey = buffer.getInt(DatagramFormat.QUEUE_KEY);
        datagram.immediate = buffer.getInt(DatagramFormat.IMMEDIATE);
        datagram.hasImmediate = (flags & DatagramFormat.FLAG_IMMEDIATE) != 0;
        datagram.solicited = (flags & DatagramFormat.FLAG_SOLICITED) != 0;
        datagram.sourceLid = Short.toUnsignedInt(buffer.getShort(DatagramFormat.SOURCE_LID));
        GlobalRoutingHeader.write(
                datagram.header, Gid.of(from.getAddress()), gid, trafficClass, /* flowLabel= */ 0, hopLimit, payload);
        return true;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
