package io.rdmacomm.soft.datagram;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The datagram that was read last, possibly from an untrusted sender. Reused for each; the engine.
public final class IncomingDatagram {
    private final ByteBuffer buffer;
    private final MemorySegment memory;
    private final int longest;
    private int payload;
    private int destination;
    private int source;
    private int queueKey;
    private int immediate;
    private int sourceLid;
    private int flags;

    /// @param longest the largest payload
    IncomingDatagram(int longest) {
        this.longest = longest;
        // One byte more, which shows that a packet is too long.
        this.buffer = ByteBuffer.allocateDirect(GlobalRoutingHeader.BYTES + longest + 1)
                .order(ByteOrder.BIG_ENDIAN);
        this.memory = MemorySegment.ofBuffer(buffer);
    }

    /// Where the next packet goes: its payload will follow the room for a global routing header.
    ByteBuffer room() {
        return buffer.clear().position(DatagramFormat.LEAD);
    }

    /// Takes over the packet in [#room()], and replaces its header by a global routing header.
    ///
    /// @return false if it is not from a software device
    boolean parse(InetSocketAddress from, Gid ownGid) {
        int length = buffer.position() - DatagramFormat.LEAD;
        payload = length - DatagramFormat.HEADER_BYTES;
        if (payload < 0 || payload > longest || at(DatagramFormat.MAGIC_AT) != DatagramFormat.MAGIC) {
            return false;
        }
        destination = at(DatagramFormat.DESTINATION);
        source = at(DatagramFormat.SOURCE) & 0xffffff;
        queueKey = at(DatagramFormat.QUEUE_KEY);
        immediate = at(DatagramFormat.IMMEDIATE);
        sourceLid = Short.toUnsignedInt(buffer.getShort(DatagramFormat.LEAD + DatagramFormat.SOURCE_LID));
        flags = buffer.get(DatagramFormat.LEAD + DatagramFormat.FLAGS);
        int trafficClass = Byte.toUnsignedInt(buffer.get(DatagramFormat.LEAD + DatagramFormat.TRAFFIC_CLASS));
        int hopLimit = Byte.toUnsignedInt(buffer.get(DatagramFormat.LEAD + DatagramFormat.HOP_LIMIT));
        GlobalRoutingHeader.write(memory, Gid.of(from.getAddress()), ownGid, trafficClass, 0, hopLimit, payload);
        return true;
    }

    private int at(int offset) {
        return buffer.getInt(DatagramFormat.LEAD + offset);
    }

    /// The global routing header and the payload behind it.
    MemorySegment memory() {
        return memory;
    }

    /// The length of both.
    int bytes() {
        return GlobalRoutingHeader.BYTES + payload;
    }

    /// The number of the queue pair that it is for.
    int destination() {
        return destination;
    }

    /// The queue key in the datagram, which may be wrong.
    public int queueKey() {
        return queueKey;
    }

    int source() {
        return source;
    }

    int sourceLid() {
        return sourceLid;
    }

    /// In network order, as in a completion.
    int immediate() {
        return Integer.reverseBytes(immediate);
    }

    boolean hasImmediate() {
        return (flags & DatagramFormat.FLAG_IMMEDIATE) != 0;
    }

    boolean isSolicited() {
        return (flags & DatagramFormat.FLAG_SOLICITED) != 0;
    }
}
