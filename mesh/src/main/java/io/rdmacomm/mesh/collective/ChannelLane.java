package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/// A lane over the channel to a peer.
///
/// Piece `m` uses slot `m % slots` on both sides, whether its data is in that slot, in the message, or in the
/// buffer of the call. The receiver returns slots with credits, which each notice carries. When half of the slots
/// are free and there is nothing else to send, it sends a CREDIT. A returned slot has arrived before, so the sender
/// may fill its own slot of that number again without waiting for a completion.
///
/// A slot to send from has room for a header in front of the data, so that both can be one message.
final class ChannelLane implements Lane {
    private final RankConnection connection;
    private final int stream;
    private final CallLog log;
    private final Waiting waiting;
    private final int slots;
    private final int slotBytes;
    private final int messageBytes;
    private final RdmaBuffer outgoing;
    private final MemorySegment out;
    private final long outOffset;
    private final BufferSlice[] empty;
    private final BufferSlice[] slices;
    private final MemorySegment in;
    private final long inOffset;
    private final @Nullable Message[] arrived;
    private long sent;
    private volatile long given;
    private volatile long tail;
    private volatile long head;
    private long reported;
    private MemorySegment data = MemorySegment.NULL;
    private long dataOffset;
    private boolean inTarget;
    // The values of the peer's last READY; guarded by the volatile write of its sequence.
    private volatile long readySequence = -1;
    private long readyCount;
    private long readyCode;
    private long readyAddress;
    private long readyLength;
    private int readyKey;
    // The result of the last call that the peer was ready in: most calls are like the one before.
    private @Nullable RemoteBuffer target;

    /// @param outOffset the offset of the slots to send from in `outgoing`
    /// @param inOffset the offset of the slots to receive in in `in`
    ChannelLane(
            RankConnection connection,
            int stream,
            SlotSizes sizes,
            CallLog log,
            Waiting waiting,
            RdmaBuffer outgoing,
            long outOffset,
            MemorySegment in,
            long inOffset) {
        this.connection = connection;
        this.stream = stream;
        this.log = log;
        this.waiting = waiting;
        this.slots = sizes.slots();
        this.slotBytes = sizes.slotBytes();
        this.messageBytes = sizes.messageBytes();
        this.outgoing = outgoing;
        this.out = outgoing.segment();
        this.outOffset = outOffset;
        this.empty = new BufferSlice[slots];
        for (int i = 0; i < slots; i++) {
            empty[i] = outgoing.slice(outOffset + i * stride(sizes), Notice.BYTES);
        }
        this.slices = empty.clone();
        this.in = in;
        this.inOffset = inOffset;
        this.arrived = new Message[slots];
    }

    private static long stride(SlotSizes sizes) {
        return (long) Notice.BYTES + sizes.slotBytes();
    }

    /// The memory of the slots to send from.
    static long outgoingBytes(SlotSizes sizes) {
        return sizes.slots() * stride(sizes);
    }

    /// The memory of the slots to receive in.
    static long incomingBytes(SlotSizes sizes) {
        return (long) sizes.slots() * sizes.slotBytes();
    }

    // Sending.

    @Override
    public MemorySegment room() {
        return out;
    }

    @Override
    public long claim() {
        while (sent - given >= slots) {
            waiting.pause(connection);
        }
        if (given > sent) {
            fail(new CollectiveFault(
                    CollectiveFault.PROTOCOL, "rank " + connection.rank() + " has given back more pieces than it got"));
        }
        waiting.progressed();
        return outOffset + slot(sent) * (Notice.BYTES + (long) slotBytes) + Notice.BYTES;
    }

    private int slot(long number) {
        return (int) (number % slots);
    }

    @Override
    public void sendClaimed(int bytes) {
        long at = outOffset + slot(sent) * (Notice.BYTES + (long) slotBytes);
        if (bytes <= messageBytes) {
            Notice.call(out, at, Notice.PIECE, stream, log.sequence(), log.count(), log.code());
            piece(at, Notice.IN_MESSAGE, bytes);
            connection.postMessage(bytes == 0 ? empty[slot(sent)] : slice(at, Notice.BYTES + bytes));
        } else {
            BufferSlice header = header(Notice.IN_SLOT, bytes);
            connection.postWrite(slice(at + Notice.BYTES, bytes), connection.slots(), remoteSlot(), header);
        }
        sent++;
    }

    private BufferSlice header(byte place, int bytes) {
        BufferSlice header = connection.header(Notice.PIECE, stream);
        piece(header.offset(), place, bytes);
        return header;
    }

    private void piece(long at, byte place, int bytes) {
        Notice.place(out, at, place, bytes);
        Notice.numbers(out, at, sent, 0);
        putCredit(at);
    }

    private void putCredit(long at) {
        reported = head;
        Notice.credit(out, at, reported);
    }

    private long remoteSlot() {
        return (stream * slots + slot(sent)) * (long) slotBytes;
    }

    /// A part of the current slot, for reuse: most pieces are as long as the one before in the same slot, apart
    /// from those without data.
    private BufferSlice slice(long offset, long bytes) {
        BufferSlice slice = slices[slot(sent)];
        if (slice.offset() != offset || slice.length() != bytes) {
            slice = outgoing.slice(offset, bytes);
            slices[slot(sent)] = slice;
        }
        return slice;
    }

    @Override
    public void sendCopy(Elements from, long offset, int bytes) {
        long to = claim();
        MemorySegment.copy(from.segment(), offset, out, to, bytes);
        sendClaimed(bytes);
    }

    @Override
    public void send(Elements from, long offset, int bytes) {
        if (bytes <= messageBytes || !from.isRegistered()) {
            sendCopy(from, offset, bytes);
            return;
        }
        var _ = claim();
        connection.postUserWrite(
                from.source(offset, bytes), connection.slots(), remoteSlot(), header(Notice.IN_SLOT, bytes));
        sent++;
    }

    @Override
    public void sendEmpty() {
        var _ = claim();
        sendClaimed(0);
    }

    @Override
    public void sendToTarget(Elements from, long offset, int bytes, long targetOffset) {
        if (bytes <= messageBytes || !from.isRegistered()) {
            sendCopy(from, offset, bytes);
            return;
        }
        var _ = claim();
        while (readySequence < log.sequence()) {
            waiting.pause(connection);
        }
        waiting.progressed();
        if (!log.isCurrent(readySequence, readyCount, readyCode)) {
            fail(log.mismatch(connection.rank(), new CollectiveCall(readySequence, readyCount, readyCode)));
        }
        if (readyLength < targetOffset + bytes) {
            fail(new CollectiveFault(
                    CollectiveFault.PROTOCOL, "rank " + connection.rank() + " is ready in a buffer that is too short"));
        }
        connection.postUserWrite(from.source(offset, bytes), target(), targetOffset, header(Notice.IN_TARGET, bytes));
        sent++;
    }

    /// The memory that the last READY names.
    private RemoteBuffer target() {
        RemoteBuffer known = target;
        if (known == null
                || known.address() != readyAddress
                || known.length() != readyLength
                || known.key() != readyKey) {
            known = RemoteBuffer.of(
                    "result of rank " + connection.rank(),
                    readyAddress,
                    readyLength,
                    readyKey,
                    EnumSet.of(AccessFlag.REMOTE_WRITE));
            target = known;
        }
        return known;
    }

    // Receiving.

    @Override
    public void sendReady(Elements into) {
        MeshBuffer buffer = into.buffer();
        if (buffer == null || into.bytes() <= messageBytes) {
            return;
        }
        BufferSlice header = connection.header(Notice.READY, stream);
        RemoteBuffer own = buffer.own();
        Notice.numbers(out, header.offset(), own.address() + into.offset(), into.bytes());
        Notice.key(out, header.offset(), own.key(), 0);
        putCredit(header.offset());
        connection.post(header);
    }

    @Override
    public void await(int bytes) {
        while (head == tail) {
            waiting.pause(connection);
        }
        waiting.progressed();
        Message message = arrived[slot(head)];
        MemorySegment notice = message == null ? MemorySegment.NULL : message.block();
        if (!log.isCurrent(Notice.sequence(notice), Notice.count(notice), Notice.code(notice))) {
            fail(log.mismatch(connection.rank(), call(notice)));
        }
        byte place = Notice.place(notice);
        if (Notice.bytes(notice) != bytes || place < Notice.IN_MESSAGE || place > Notice.IN_TARGET) {
            fail(new CollectiveFault(
                    CollectiveFault.PROTOCOL,
                    "rank " + connection.rank() + " has sent a piece of " + Notice.bytes(notice) + " bytes where "
                            + bytes + " were due in " + log.call()));
        }
        inTarget = place == Notice.IN_TARGET;
        data = place == Notice.IN_MESSAGE ? notice : in;
        dataOffset = place == Notice.IN_MESSAGE ? Notice.BYTES : inOffset + slot(head) * (long) slotBytes;
    }

    private static CollectiveCall call(MemorySegment notice) {
        return new CollectiveCall(Notice.sequence(notice), Notice.count(notice), Notice.code(notice));
    }

    private void fail(CollectiveFault why) {
        log.fail(why);
        throw why.failure();
    }

    @Override
    public MemorySegment data() {
        return data;
    }

    @Override
    public long dataOffset() {
        return dataOffset;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // only the thread in a collective takes pieces
    public void release() {
        int slot = slot(head);
        Message message = arrived[slot];
        arrived[slot] = null;
        if (message != null) {
            message.close();
        }
        head = head + 1;
        if (head - reported >= Math.max(1, slots / 2)) {
            BufferSlice header = connection.header(Notice.CREDIT, stream);
            putCredit(header.offset());
            connection.postIfOpen(header);
        }
    }

    @Override
    public void receive(Elements into, long offset, int bytes) {
        await(bytes);
        if (!inTarget) {
            MemorySegment.copy(data, dataOffset, into.segment(), offset, bytes);
        }
        release();
    }

    @Override
    public void receiveEmpty() {
        await(0);
        release();
    }

    // Arrivals, on the thread that polls.

    /// Handles a credit: the peer has taken this many pieces.
    ///
    /// @return false if that is impossible
    boolean credit(long value) {
        if (value < given) {
            return false;
        }
        given = value;
        return true;
    }

    /// Handles an arrived piece.
    ///
    /// @return false if it is one too many, or out of order
    boolean arrived(Message message, MemorySegment notice) {
        long position = tail;
        int bytes = Notice.bytes(notice);
        if (position - head >= slots || Notice.number(notice) != position || bytes < 0 || bytes > slotBytes) {
            return false;
        }
        if (Notice.place(notice) == Notice.IN_MESSAGE && bytes > message.length() - Notice.BYTES) {
            return false;
        }
        arrived[slot(position)] = message.retain();
        tail = position + 1;
        return true;
    }

    /// Handles a READY of the peer.
    ///
    /// @return false if that is impossible
    boolean ready(MemorySegment notice) {
        if (!credit(Notice.credit(notice))) {
            return false;
        }
        readyCount = Notice.count(notice);
        readyCode = Notice.code(notice);
        readyAddress = Notice.number(notice);
        readyLength = Notice.length(notice);
        readyKey = Notice.key(notice);
        readySequence = Notice.sequence(notice);
        return true;
    }

    /// Compares notices that arrived early with the call that begins.
    void compareEarly(CallLog calls) {
        if (readySequence == calls.sequence()) {
            calls.compare(connection.rank(), readySequence, readyCount, readyCode);
        }
        if (head != tail) {
            Message message = arrived[slot(head)];
            if (message != null) {
                MemorySegment notice = message.block();
                calls.compare(connection.rank(), Notice.sequence(notice), Notice.count(notice), Notice.code(notice));
            }
        }
    }
}
