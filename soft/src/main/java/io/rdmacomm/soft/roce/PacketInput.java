package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.linux.SegmentReceiver;
import io.rdmacomm.soft.roce.wire.Packet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.jspecify.annotations.Nullable;

/// The packets that arrive at a socket, one by one. With native access, one system call receives several. Not
/// thread-safe; allocates nothing unless the sender changes.
final class PacketInput {
    private static final int LONGEST_PAYLOAD = 4096;

    private final DatagramChannel channel;
    private final @Nullable SegmentReceiver segments;
    private final ByteBuffer buffer;
    private final MemorySegment memory;
    private int at;
    private int bytes;
    /// The end of the last packet received.
    private int end;
    /// The length of the next packet, unless fewer bytes are left.
    private int each;
    private int host;
    private int port;
    private InetSocketAddress lastSender = PacketSocket.NOWHERE;

    /// @param channel not blocking
    /// @param segments null to receive each packet with its own call
    PacketInput(DatagramChannel channel, @Nullable SegmentReceiver segments) {
        this.channel = channel;
        this.segments = segments;
        this.buffer = segments != null
                ? segments.buffer()
                // One byte more, to detect packets that are too long.
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

    /// Whether packets were received that [#next] has not returned.
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

    /// The buffer of the packet.
    ByteBuffer buffer() {
        return buffer;
    }

    /// The same as a segment.
    MemorySegment memory() {
        return memory;
    }

    /// The offset of the packet.
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
