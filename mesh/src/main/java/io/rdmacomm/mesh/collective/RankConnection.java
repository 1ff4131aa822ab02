package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/// The connection to one rank: its channel, a ring of headers to send, and two [ChannelLane]s for data. Notices
/// are sent by the thread in a collective, and received by the thread that polls.
///
/// There is one header more than the channel allows operations in flight. Operations end in order, so when a header
/// is reused, its previous operation has ended.
final class RankConnection {
    /// The operations that start at the same time: a write and its notice.
    static final int TOGETHER = 2;

    private static final int MOST_TEXT = 512;

    private final int rank;
    private final RdmaChannel channel;
    private final CallLog log;
    private final Waiting waiting;
    private final SlotSizes sizes;
    private final MemorySegment memory;
    private final BufferSlice[] headers;
    private final BufferSlice state;
    private final ChannelBatch batch;
    private final ChannelLane[] lanes;
    private final UserWrites userWrites = new UserWrites();
    private final CompletionHandler stateSent = (_, _, _, _) -> stateInFlight = false;
    private int nextHeader;
    private volatile @Nullable RemoteBuffer slots;
    // The call of the peer's last STATE; guarded by the volatile write of its sequence.
    private volatile long stateSequence = -1;
    private long stateCount;
    private long stateCode;
    private volatile boolean stateInFlight;

    /// @param sizes the same on all ranks
    /// @param outgoing the memory that this rank sends from
    /// @param outgoingOffset the offset of the part for this peer
    /// @param incoming the memory that the peer writes to
    /// @param incomingOffset the offset of the part for this peer
    RankConnection(
            int rank,
            RdmaChannel channel,
            CallLog log,
            Waiting waiting,
            SlotSizes sizes,
            RdmaBuffer outgoing,
            long outgoingOffset,
            RdmaBuffer incoming,
            long incomingOffset) {
        this.rank = rank;
        this.channel = channel;
        this.log = log;
        this.waiting = waiting;
        this.sizes = sizes;
        this.memory = outgoing.segment();
        this.headers = new BufferSlice[headerCount(channel.options().sendWindow())];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = outgoing.slice(outgoingOffset + (long) i * Notice.BYTES, Notice.BYTES);
        }
        this.state = outgoing.slice(outgoingOffset + (long) headers.length * Notice.BYTES, Notice.BYTES);
        this.batch = channel.batch(TOGETHER);
        this.lanes = new ChannelLane[Lane.STREAMS];
        long lanesOffset = outgoingOffset + headerBytes(channel.options().sendWindow());
        for (int stream = 0; stream < lanes.length; stream++) {
            lanes[stream] = new ChannelLane(
                    this,
                    stream,
                    sizes,
                    log,
                    waiting,
                    outgoing,
                    lanesOffset + stream * ChannelLane.outgoingBytes(sizes),
                    incoming.segment(),
                    incomingOffset + stream * ChannelLane.incomingBytes(sizes));
        }
    }

    private static int headerCount(int sendWindow) {
        return sendWindow + 1;
    }

    /// The ring, and a header for STATE, which is sent while another one waits for room.
    private static long headerBytes(int sendWindow) {
        return (headerCount(sendWindow) + 1L) * Notice.BYTES;
    }

    /// The memory to send from that one peer needs.
    ///
    /// @param sendWindow the send window of its channel
    static long outgoingBytes(int sendWindow, SlotSizes sizes) {
        return headerBytes(sendWindow) + Lane.STREAMS * ChannelLane.outgoingBytes(sizes);
    }

    /// The memory to receive in that one peer needs.
    static long incomingBytes(SlotSizes sizes) {
        return Lane.STREAMS * ChannelLane.incomingBytes(sizes);
    }

    /// Its rank.
    int rank() {
        return rank;
    }

    /// One of its streams.
    Lane lane(int stream) {
        return lanes[stream];
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /// Receives the messages of the channel from now on.
    void listen() {
        channel.onMessage((on, message) -> arrived(message));
    }

    /// The peer's slots. Waits for its SET_UP.
    RemoteBuffer slots() {
        RemoteBuffer known = slots;
        while (known == null) {
            waiting.pause(this);
            known = slots;
        }
        return known;
    }

    /// The next header, filled with the call in progress, for one of the methods that post it.
    BufferSlice header(byte type, int stream) {
        BufferSlice header = headers[nextHeader];
        Notice.call(memory, header.offset(), type, stream, log.sequence(), log.count(), log.code());
        return header;
    }

    private void headerUsed() {
        nextHeader = nextHeader + 1 == headers.length ? 0 : nextHeader + 1;
    }

    /// Sends a header that [#header] has given. Waits for room.
    void post(BufferSlice header) {
        postMessage(header);
        headerUsed();
    }

    /// Sends a header that [#header] has given, and that a peer that has left does not need. Waits for room.
    void postIfOpen(BufferSlice header) {
        Admission admission = channel.trySend(header, CompletionHandler.NONE, 0);
        while (!admission.isAccepted() && admission != Admission.CLOSED) {
            waiting.pause(this);
            admission = channel.trySend(header, CompletionHandler.NONE, 0);
        }
        headerUsed();
        waiting.progressed();
    }

    /// Sends a message. Waits for room.
    void postMessage(BufferSlice message) {
        while (!channel.trySend(message, CompletionHandler.NONE, 0).isAccepted()) {
            waiting.pause(this);
        }
        waiting.progressed();
    }

    /// Writes, and sends a header that [#header] has given. Waits for room.
    void postWrite(BufferSlice from, RemoteBuffer to, long offset, BufferSlice header) {
        post(from, to, offset, header, CompletionHandler.NONE);
    }

    /// Does the same from memory that belongs to the caller of the collective; [#awaitUserWrites] waits for it.
    void postUserWrite(BufferSlice from, RemoteBuffer to, long offset, BufferSlice header) {
        post(from, to, offset, header, userWrites);
        userWrites.started++;
    }

    private void post(BufferSlice from, RemoteBuffer to, long offset, BufferSlice header, CompletionHandler onWritten) {
        batch.clear();
        batch.write(from, to, offset, onWritten, 0);
        batch.send(header, CompletionHandler.NONE, 0);
        Admission admission = batch.tryPost();
        while (!admission.isAccepted()) {
            waiting.pause(this);
            admission = batch.tryPost();
        }
        headerUsed();
        waiting.progressed();
    }

    /// Waits until the memory of the caller is no longer used.
    void awaitUserWrites() {
        while (userWrites.ended < userWrites.started) {
            waiting.pause(this);
        }
        waiting.progressed();
    }

    /// Sends the address of the slots of this rank.
    void sendSetUp(RemoteBuffer own, long offset) {
        BufferSlice header = header(Notice.SET_UP, 0);
        Notice.place(memory, header.offset(), (byte) 0, sizes.slotBytes());
        Notice.numbers(memory, header.offset(), own.address() + offset, incomingBytes(sizes));
        Notice.key(memory, header.offset(), own.key(), sizes.slots());
        Notice.credit(memory, header.offset(), sizes.messageBytes());
        post(header);
    }

    /// Sends the call in progress, in which this rank waits, if there is room, and if the device no longer
    /// reads the last such message.
    void trySendState() {
        if (stateInFlight) {
            return;
        }
        Notice.call(memory, state.offset(), Notice.STATE, 0, log.sequence(), log.count(), log.code());
        // Set before, because the message may have ended when the call returns.
        stateInFlight = true;
        if (!channel.trySend(state, stateSent, 0).isAccepted()) {
            stateInFlight = false;
        }
    }

    /// Writes the reason why the collectives have ended. Once for all peers: a device may still read the message for
    /// one of them when the next one is sent.
    ///
    /// @param room memory for the message
    /// @param most the longest message that all channels take
    static BufferSlice abort(CollectiveFault why, CallLog log, BufferSlice room, int most) {
        byte[] text = why.text().getBytes(StandardCharsets.UTF_8);
        int length = Math.min(Math.min(text.length, MOST_TEXT), most - Notice.BYTES);
        MemorySegment memory = room.buffer().segment();
        Notice.call(memory, room.offset(), Notice.ABORT, 0, log.sequence(), log.count(), log.code());
        Notice.place(memory, room.offset(), why.reason(), length);
        MemorySegment.copy(MemorySegment.ofArray(text), 0, memory, room.offset() + Notice.BYTES, length);
        return room.slice(0, Notice.BYTES + length);
    }

    /// Sends the message of [#abort] if there is room.
    boolean trySendAbort(BufferSlice message) {
        return channel.trySend(message, CompletionHandler.NONE, 0).isAccepted();
    }

    int maxMessageBytes() {
        return channel.maxMessageBytes();
    }

    /// Compares the calls of notices that arrived early with the call that begins.
    void compareEarly() {
        compareState();
        for (ChannelLane lane : lanes) {
            lane.compareEarly(log);
        }
    }

    private void compareState() {
        long sequence = stateSequence;
        if (sequence == log.sequence()) {
            log.compare(rank, sequence, stateCount, stateCode);
        }
    }

    private void arrived(Message message) {
        MemorySegment notice = message.block();
        // The notice of a WRITE has a length, but no content: an earlier message is still in its memory.
        if (message.isNotice() || message.length() < Notice.BYTES || !take(message, notice)) {
            log.fail(new CollectiveFault(
                    CollectiveFault.PROTOCOL, "rank " + rank + " has sent a notice that is not valid"));
        }
        waiting.wake();
    }

    /// @return false if the notice is not valid
    private boolean take(Message message, MemorySegment notice) {
        int stream = Notice.stream(notice);
        if (stream < 0 || stream >= lanes.length) {
            return false;
        }
        if (Notice.order(notice) != Notice.OWN_ORDER) {
            log.fail(new CollectiveFault(
                    CollectiveFault.PROTOCOL,
                    "rank " + rank + " has another byte order; all nodes of a mesh must have the same one"));
            return true;
        }
        ChannelLane lane = lanes[stream];
        return switch (Notice.type(notice)) {
            case Notice.SET_UP -> setUp(notice);
            case Notice.PIECE -> lane.credit(Notice.credit(notice)) && lane.arrived(message, notice) && compare(notice);
            case Notice.READY -> lane.ready(notice) && compare(notice);
            case Notice.CREDIT -> lane.credit(Notice.credit(notice));
            case Notice.STATE -> state(notice);
            case Notice.ABORT -> aborted(message.length(), notice);
            default -> false;
        };
    }

    private boolean state(MemorySegment notice) {
        stateCount = Notice.count(notice);
        stateCode = Notice.code(notice);
        stateSequence = Notice.sequence(notice);
        return compare(notice);
    }

    private boolean compare(MemorySegment notice) {
        log.compare(rank, Notice.sequence(notice), Notice.count(notice), Notice.code(notice));
        return true;
    }

    private boolean setUp(MemorySegment notice) {
        if (slots != null) {
            return false;
        }
        String difference = difference("slots", Notice.slots(notice), sizes.slots())
                + difference("slotBytes", Notice.bytes(notice), sizes.slotBytes())
                + difference("messageBytes", Notice.credit(notice), sizes.messageBytes());
        if (!difference.isEmpty()) {
            log.fail(new CollectiveFault(
                    CollectiveFault.MISMATCH, difference + "all ranks must use the same collective options"));
            return true;
        }
        if (Notice.length(notice) != incomingBytes(sizes)) {
            return false;
        }
        slots = RemoteBuffer.of(
                "slots of rank " + rank,
                Notice.number(notice),
                Notice.length(notice),
                Notice.key(notice),
                EnumSet.of(AccessFlag.REMOTE_WRITE));
        return true;
    }

    /// An option of two ranks in words; empty if it is the same.
    private String difference(String option, long theirs, long own) {
        return theirs == own
                ? ""
                : "CollectiveOptions." + option + " is " + own + " on rank " + log.rank() + " and " + theirs
                        + " on rank " + rank + "; ";
    }

    private boolean aborted(long length, MemorySegment notice) {
        int bytes = Notice.bytes(notice);
        if (bytes < 0 || bytes > MOST_TEXT || bytes > length - Notice.BYTES) {
            return false;
        }
        byte[] text = new byte[bytes];
        MemorySegment.copy(notice, Notice.BYTES, MemorySegment.ofArray(text), 0, bytes);
        log.fail(CollectiveFault.fromPeer(rank, Notice.place(notice), text));
        return true;
    }

    /// Counts the writes from memory of the caller. Their failure fails the endpoint, which ends all waits.
    private static final class UserWrites implements CompletionHandler {
        private long started;
        private volatile long ended;

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time polls the channel
        public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long result) {
            ended = ended + 1;
        }
    }
}
