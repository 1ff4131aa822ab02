package io.rdmacomm.soft.roce;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.NetworkOrder;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// Turns the requests in a [RequestQueue] into packets. Under the queue pair's send lock; allocates nothing.
final class RequestPackets {
    private static final int SUCCESS = 0;
    private static final long NOWHERE = Long.MAX_VALUE;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    /// A READ is requested in parts of this many packets, so that the answers do not overrun the socket.
    private static final int READ_PACKETS = 16;
    /// Acknowledgements are requested this often, so that the progress of a long message is known before its end.
    private static final int ANSWER_EVERY = 8;

    private final RequestQueue queue;
    private final SentPackets packets;
    private final PacketOutput output;
    private final int service;
    private final int mtu;
    private final ElementList local = new ElementList(ElementList.MAX_ELEMENTS);
    private final ElementPieces pieces = new ElementPieces(local);
    private long resolved = NOWHERE;

    /// @param service [PacketOpcode#RELIABLE], or [PacketOpcode#UNRELIABLE], whose packets are not answered
    /// @param mtu the most bytes of payload in a packet
    RequestPackets(RequestQueue queue, SentPackets packets, PacketOutput output, int service, int mtu) {
        this.queue = queue;
        this.packets = packets;
        this.output = output;
        this.service = service;
        this.mtu = mtu;
    }

    /// The opcode of the request at `position`.
    int opcode(long position) {
        return queue.segment().get(JAVA_INT, queue.at(position) + SendRequestLayout.OPCODE);
    }

    /// Whether the request is answered with data.
    boolean isRead(long position) {
        return RequestOpcode.isRead(opcode(position));
    }

    /// Finds the memory of a request, unless it was the last one found.
    ///
    /// @return the status that the request fails with, or 0
    int resolve(long position) {
        if (resolved == position) {
            return SUCCESS;
        }
        long at = queue.at(position);
        MemorySegment request = queue.segment();
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        local.clear();
        pieces.restart();
        int right = isRead(position) ? LOCAL_WRITE : 0;
        int status = queue.localElements().resolve(local, request, at, flags, right);
        resolved = status == SUCCESS ? position : NOWHERE;
        return status;
    }

    /// Makes [#resolve] look again: memory may have been deregistered since.
    void forgetMemory() {
        resolved = NOWHERE;
    }

    /// Determines the packets of a new request, whose memory was found.
    ///
    /// @return the status that the request fails with, or 0
    int begin(long position, long cursor) {
        boolean atomic = RequestOpcode.isAtomic(opcode(position));
        if (atomic ? local.total < Long.BYTES : local.total > Packet.MOST_MESSAGE_BYTES) {
            return WorkStatus.LOCAL_LENGTH_ERROR.code();
        }
        packets.set(position, cursor, atomic ? 1 : Math.max(1, (local.total + mtu - 1) / mtu));
        return SUCCESS;
    }

    /// The number of packets to send, or request, at once from `cursor` on.
    int count(long position, long cursor) {
        if (opcode(position) != RequestOpcode.READ) {
            return 1;
        }
        // A part that is requested again has the same end: the peer may not have got the request for the next part.
        long begin = packets.begin(position);
        long part = READ_PACKETS - (cursor - begin) % READ_PACKETS;
        return (int) Math.min(part, packets.end(position) - cursor);
    }

    /// Sends the packet at `cursor`.
    ///
    /// @param asks whether to request an acknowledgement in any case
    /// @return false if the socket has no room
    boolean send(long position, long cursor, boolean asks) {
        return isRead(position) ? sendRead(position, cursor) : sendPayload(position, cursor, asks);
    }

    /// Sends an empty WRITE, which needs no valid address.
    ///
    /// @return false if the socket has no room
    boolean sendNothing(long cursor) {
        Packet packet = output.packet();
        packet.opcode = service | PacketOpcode.WRITE_ONLY;
        packet.psn = packets.psn(cursor);
        packet.wantsAnswer = true;
        packet.solicited = false;
        packet.address = 0;
        packet.key = 0;
        packet.length = 0;
        var _ = output.begin(0);
        return output.send();
    }

    private boolean sendPayload(long position, long cursor, boolean asks) {
        MemorySegment request = queue.segment();
        long at = queue.at(position);
        long first = packets.begin(position);
        long last = packets.end(position) - 1;
        long offset = (cursor - first) * mtu;
        int bytes = (int) Math.min(mtu, local.total - offset);
        Packet packet = output.packet();
        packet.opcode = service | opcode(opcode(position), cursor == first, cursor == last);
        packet.psn = packets.psn(cursor);
        packet.wantsAnswer = service == PacketOpcode.RELIABLE
                && (asks || cursor == last || (cursor - first) % ANSWER_EVERY == ANSWER_EVERY - 1);
        packet.solicited = cursor == last
                && (request.get(JAVA_INT, at + SendRequestLayout.FLAGS) & SendRequestLayout.FLAG_SOLICITED) != 0
                && (PacketOpcode.isSend(packet.opcode) || PacketOpcode.hasImmediate(packet.opcode));
        if (PacketOpcode.hasRemote(packet.opcode)) {
            packet.address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
            packet.key = request.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY);
            packet.length = (int) local.total;
        }
        packet.immediate = immediate(request, at, packet.opcode);
        int to = output.begin(bytes);
        pieces.copy(offset, output.segment(), to, bytes);
        return output.send();
    }

    /// Immediate data is in network order in the request; a key is not.
    private static int immediate(MemorySegment request, long at, int opcode) {
        int value = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        return PacketOpcode.hasInvalidate(opcode) ? value : NetworkOrder.convert(value);
    }

    private static int opcode(int request, boolean first, boolean last) {
        boolean write = request == RequestOpcode.WRITE || request == RequestOpcode.WRITE_WITH_IMMEDIATE;
        int base = write ? PacketOpcode.WRITE_FIRST : PacketOpcode.SEND_FIRST;
        if (!last) {
            return first ? base : base + PacketOpcode.SEND_MIDDLE;
        }
        if (request == RequestOpcode.SEND_WITH_INVALIDATE) {
            return first ? PacketOpcode.SEND_ONLY_INVALIDATE : PacketOpcode.SEND_LAST_INVALIDATE;
        }
        int plain = base + (first ? PacketOpcode.SEND_ONLY : PacketOpcode.SEND_LAST);
        return RequestOpcode.hasImmediate(request) ? plain + 1 : plain;
    }

    private boolean sendRead(long position, long cursor) {
        MemorySegment request = queue.segment();
        long at = queue.at(position);
        int opcode = opcode(position);
        Packet packet = output.packet();
        packet.psn = packets.psn(cursor);
        packet.wantsAnswer = true;
        packet.solicited = false;
        if (opcode == RequestOpcode.READ) {
            long offset = (cursor - packets.begin(position)) * mtu;
            packet.opcode = PacketOpcode.READ_REQUEST;
            packet.address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS) + offset;
            packet.key = request.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY);
            packet.length = (int) Math.min(count(position, cursor) * (long) mtu, local.total - offset);
        } else {
            boolean compare = opcode == RequestOpcode.COMPARE_AND_SWAP;
            long operand = request.get(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD);
            packet.opcode = compare ? PacketOpcode.COMPARE_AND_SWAP : PacketOpcode.FETCH_AND_ADD;
            packet.address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
            packet.key = request.get(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY);
            packet.operand = compare ? request.get(JAVA_LONG, at + SendRequestLayout.SWAP) : operand;
            packet.compare = compare ? operand : 0;
        }
        var _ = output.begin(0);
        return output.send();
    }

    /// Releases all memory.
    void close() {
        local.clear();
    }
}
