package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestExecution;
import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Executes the packets of the peer's SENDs and WRITEs; the connection handles all others. Under the queue pair's
/// send lock; allocates nothing.
final class MessageExecution {
    private static final int NONE = -1;

    private final RequestExecution execution;
    private final int mtu;
    /// The kind of the message in progress: an opcode of its middle packets, or NONE.
    private int inside = NONE;

    private long messageBytes;
    private long writeBytes;
    private @Nullable RequestFault fault;

    /// @param mtu the most bytes of payload in a packet
    MessageExecution(RequestExecution execution, int mtu) {
        this.execution = execution;
        this.mtu = mtu;
    }

    /// Whether a message is in progress.
    boolean hasBegun() {
        return inside != NONE;
    }

    /// The rest of the present message will not come.
    void abandon() {
        inside = NONE;
    }

    /// Why the last packet was not executed; null if there was no receive for it.
    @Nullable
    RequestFault fault() {
        return fault;
    }

    /// Whether a packet may follow the previous one: only a first packet begins a message, and only the last one is
    /// shorter than the path MTU.
    boolean fits(Packet packet) {
        fault = null;
        boolean inOrder = PacketOpcode.isFirst(packet.opcode) ? inside == NONE : inside == kind(packet);
        boolean last = PacketOpcode.isLast(packet.opcode);
        return inOrder && (last ? packet.payloadBytes <= mtu : packet.payloadBytes == mtu);
    }

    private static int kind(Packet packet) {
        return PacketOpcode.isSend(packet.opcode) ? PacketOpcode.SEND_MIDDLE : PacketOpcode.WRITE_MIDDLE;
    }

    /// Executes a packet that fits.
    ///
    /// @param from the packet
    /// @return whether it was executed
    boolean execute(Packet packet, MemorySegment from) {
        boolean first = PacketOpcode.isFirst(packet.opcode);
        if (first) {
            messageBytes = 0;
        }
        boolean done = PacketOpcode.isSend(packet.opcode) ? send(packet, from, first) : write(packet, from, first);
        if (done) {
            inside = PacketOpcode.isLast(packet.opcode) ? NONE : kind(packet);
        }
        return done;
    }

    /// @return false
    private boolean fail(@Nullable RequestFault why) {
        fault = why;
        return false;
    }

    private boolean send(Packet packet, MemorySegment from, boolean first) {
        if (first && !execution.takeReceive()) {
            return fail(null);
        }
        long end = messageBytes + packet.payloadBytes;
        RequestFault bad = execution.checkReceive(end);
        if (bad != null) {
            return fail(bad);
        }
        if (!execution.received().copy(from, packet.payloadAt, packet.payloadBytes)) {
            return fail(RequestFault.RECEIVE_MEMORY);
        }
        messageBytes = end;
        bad = PacketOpcode.isLast(packet.opcode) ? endSend(packet) : null;
        return bad == null || fail(bad);
    }

    private @Nullable RequestFault endSend(Packet packet) {
        if (PacketOpcode.hasInvalidate(packet.opcode)) {
            return execution.completeSendWithInvalidate(messageBytes, packet.solicited, packet.immediate);
        }
        if (PacketOpcode.hasImmediate(packet.opcode)) {
            execution.completeSendWithImmediate(messageBytes, packet.solicited, packet.immediate);
        } else {
            execution.completeSend(messageBytes, packet.solicited);
        }
        return null;
    }

    private boolean write(Packet packet, MemorySegment from, boolean first) {
        if (first) {
            writeBytes = Integer.toUnsignedLong(packet.length);
            RequestFault bad = writeBytes > Packet.MOST_MESSAGE_BYTES
                    ? RequestFault.INVALID_REQUEST
                    : execution.beginWrite(packet.key, packet.address, writeBytes);
            if (bad != null) {
                return fail(bad);
            }
        }
        long end = messageBytes + packet.payloadBytes;
        if (PacketOpcode.isLast(packet.opcode) ? end != writeBytes : end >= writeBytes) {
            return fail(RequestFault.INVALID_REQUEST);
        }
        // Taken before anything is written: without a receive, the packet may come again.
        if (PacketOpcode.hasImmediate(packet.opcode) && !execution.takeReceive()) {
            return fail(null);
        }
        if (!execution.writes().copy(from, packet.payloadAt, packet.payloadBytes)) {
            return fail(RequestFault.INVALID_KEY);
        }
        messageBytes = end;
        if (PacketOpcode.hasImmediate(packet.opcode)) {
            execution.completeWriteWithImmediate(messageBytes, packet.solicited, packet.immediate);
        }
        return true;
    }
}
