package io.rdmacomm.soft.datagram;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The UDP port of a context, whose number is its LID: reads datagrams, and hands each to its queue pair. The engine.
public final class DatagramPort implements AutoCloseable {
    /// The number of packets to read before other channels have their turn.
    private static final int MOST_AT_ONCE = 64;
    /// As much as the system allows: packets that do not fit are lost while the engine is busy.
    private static final int RECEIVE_BUFFER = 4 << 20;

    /// A queue pair that takes datagrams.
    public interface Target {
        /// A datagram for it has come, with any queue key; the engine.
        void arrived(IncomingDatagram datagram);
    }

    private final DatagramChannel channel;
    private final Gid gid;
    private final IntFunction<@Nullable Target> targets;
    private final IncomingDatagram datagram;

    /// Begins to receive.
    ///
    /// @param longest the largest payload
    /// @param targets the queue pairs by number
    /// @throws IOException if the port is taken, this host has no such address, or there is no socket left
    public DatagramPort(
            InetAddress address, int port, Gid gid, int longest, Engine engine, IntFunction<@Nullable Target> targets)
            throws IOException {
        this.gid = gid;
        this.targets = targets;
        this.datagram = new IncomingDatagram(longest);
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
            SocketAddress from = channel.receive(datagram.room());
            if (from == null) {
                return;
            }
            if (from instanceof InetSocketAddress sender && datagram.parse(sender, gid)) {
                Target target = targets.apply(datagram.destination());
                if (target != null) {
                    target.arrived(datagram);
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
