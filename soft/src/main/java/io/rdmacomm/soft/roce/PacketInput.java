package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.linux.SegmentReceiver;
import io.rdmacomm.soft.roce.wire.Packet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.jspecify.annotations.Nullable;

/// The packets that arrive at a socket, one after the other. With native access, one call of the system receives
/// several. One thread at a time; allocates nothing unless the sender changes.
final class PacketInput {
    private static final int LONGEST_PAYLOAD = 4096;

    private final DatagramChannel channel;
    private final @Nullable SegmentReceiver segments;
    private final ByteBuffer buffer;
    private final MemorySegment memory;
    private int at;
    private int bytes;
    /// Behind the last packet that was received.
    private int end;
    /// The length of the next packet, unless fewer bytes are left.
    private int each;
    private int host;
    private int port;
    private InetSocketAddress lastSender = PacketSocket.NOWHERE;

    /// @param channel not blocking
    /// @param segments null if each packet is received with a call of its own
    PacketInput(DatagramChannel channel, @Nullable SegmentReceiver segments) {
        this.channel = channel;
        this.segments = segments;
        this.buffer = segments != null
                ? segments.buffer()
                // One more, to notice packets that are too long.
                : ByteBuffer.allocateDirect(LONGEST_PAYLOAD + Packet.MOST_OVERHEAD + 1);
        this.memory = MemorySegment.ofBuffer(buffer);
    }

    DatagramChannel channel() {
        return channel;
    }

    /// Moves on to the next packet; does not block.
    ///
    /// @return false if no packet is there
    boolean next() throws IOException {
        if (at + bytes < end) {
            at += bytes;
        } else if (!receive()) {
            return false;
        }
        bytes = Math.min(each, end - at);
        return true;
    }

    /// Whether more packets were received than [#next] has shown.
    boolean hasMore() {
        return at + bytes < end;
    }

    private boolean receive() throws IOException {
        at = 0;
        bytes = 0;
        end = 0;
        SegmentReceiver several = segments;
        if (several != null) {
            int received = several.receive();
            if (received < 0) {
                return false;
            }
            end = received;
            each = several.packetBytes(received);
            host = several.host();
            port = several.port();
            return true;
        }
        buffer.clear();
        if (!(channel.receive(buffer) instanceof InetSocketAddress from)) {
            return false;
        }
        end = buffer.position();
        each = end;
        buffer.clear();
        if (!from.equals(lastSender)) {
            lastSender = from;
            host = PacketSocket.bits(from.getAddress());
            port = from.getPort();
        }
        return true;
    }

    /// Where the packet is.
    ByteBuffer buffer() {
        return buffer;
    }

    /// The same as a segment.
    MemorySegment memory() {
        return memory;
    }

    /// Where the packet begins.
    int at() {
        return at;
    }

    /// The length of the packet.
    int bytes() {
        return bytes;
    }

    /// The IPv4 address of the sender.
    int host() {
        return host;
    }

    /// The UDP port of the sender.
    int port() {
        return port;
    }
}
