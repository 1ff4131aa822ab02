package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.iwarp.AtomicRequest;
import io.rdmacomm.soft.iwarp.FrameOutput;
import io.rdmacomm.soft.iwarp.ImmediateData;
import io.rdmacomm.soft.iwarp.MessageNumbers;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/// The requester's half of a link: turns the requests in the ring of a queue pair into messages, and completes
/// them when the peer has acknowledged or answered them; a peer of another make does not acknowledge, so there
/// they complete when TCP has them (RFC 5040 5.5).
///
/// ```
/// ring   | complete | sent, waits for the peer | next: being sent | waits to be sent |
///                   ^ head                     ^ next                                ^ tail
/// ```
/// Each message of a request counts, modulo 2^32; acknowledgements name a count. Under the queue pair's send lock.
final class LinkRequester {
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private static final int FENCE = SendRequestLayout.FLAG_FENCE;
    private static final long NOWHERE = -1;
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private final SendRing ring;
    private final RequestExecutor executor;
    private final LinkTerms terms;
    private final OutgoingMessage message;
    private final Placement placement;
    private final OutstandingReads reads;
    private final MessageNumbers numbers = new MessageNumbers();
    private final SegmentHeader header = new SegmentHeader();
    private final ReadRequest readRequest = new ReadRequest();
    private final AtomicRequest atomicRequest = new AtomicRequest();
    private final ElementList local = new ElementList(SoftLimits.MAX_ELEMENTS);
    private final ElementList result = new ElementList(SoftLimits.MAX_ELEMENTS);

    // By place in the ring: the count before and after the request, the numbers before it, responses it waits for.
    private final int[] firstMessage;
    private final int[] endMessage;
    private final int[] sendNumber;
    private final int[] requestNumber;
    private final int[] owed;

    private long next;
    private boolean begun;
    private int stage;
    private int messages;
    private int acknowledged;
    private boolean held;
    private long stopAt = NOWHERE;
    private int stopStatus;
    private int stopVendor;
    private long readPosition;
    private boolean readTarget;

    LinkRequester(SoftContext context, SendRing ring, RequestExecutor executor, Placement placement, LinkTerms terms) {
        this.ring = ring;
        this.executor = executor;
        this.terms = terms;
        this.message = new OutgoingMessage(context, terms.segmentLimit());
        this.placement = placement;
        this.reads = new OutstandingReads(terms.mpa().outboundReads());
        int size = ring.size();
        firstMessage = new int[size];
        endMessage = new int[size];
        sendNumber = new int[size];
        requestNumber = new int[size];
        owed = new int[size];
        next = ring.head();
    }

    private int place(long position) {
        return (int) position & (ring.size() - 1);
    }

    // ---- Sending ----

    /// Whether a message has begun and not ended: nothing else may come in between.
    boolean isInside() {
        return message.isActive();
    }

    /// Whether requests were sent that have not ended.
    boolean isWaiting() {
        return ring.head() != next || begun;
    }

    /// The first frame of an initiator, which lets the responder speak (RFC 6581 5): a Write of no bytes.
    void announceWrite(FrameOutput out) {
        header.setTagged(Opcode.WRITE, true, 1, 0, 0);
        out.begin(header);
        out.end();
    }

    /// The same as a Read of no bytes.
    void announceRead(FrameOutput out) {
        requestRead(out, NOWHERE, 0, 0, 0, 1, 0);
    }

    /// Adds the next frame.
    ///
    /// @param mayBegin whether requests may be begun
    /// @return false if there is none
    boolean writeFrame(FrameOutput out, boolean mayBegin) {
        if (message.isActive()) {
            if (!message.writeFrame(out)) {
                // Deregistered while it was being sent. The peer cannot be told in the middle of a message.
                stop(next, WorkStatus.LOCAL_PROTECTION_ERROR.code(), 0);
                message.cancel();
                return false;
            }
            if (!message.isActive()) {
                stageDone();
            }
            return true;
        }
        while (mayBegin && !held && stopAt == NOWHERE && next != ring.tail()) {
            long at = ring.at(next);
            if (!begun && !begin(at)) {
                return false;
            }
            int sent = send(out, at);
            if (sent != LOCAL) {
                return sent == SENT;
            }
        }
        return false;
    }

    private static final int LOCAL = 0;
    private static final int SENT = 1;
    private static final int BLOCKED = 2;

    /// Looks at the next request.
    ///
    /// @return false if it must wait, or fails
    private boolean begin(long at) {
        MemorySegment request = ring.segment();
        int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        boolean concernsOnlyThisSide = RequestExecutor.isLocal(opcode);
        // A binding that is flushed must not have happened: it waits until everything before it has ended.
        if (concernsOnlyThisSide && ring.head() != next) {
            return false;
        }
        if ((flags & FENCE) != 0 && !reads.isEmpty()) {
            return false;
        }
        if (!isUnderstood(opcode)) {
            stop(next, WorkStatus.REMOTE_INVALID_REQUEST.code(), 0);
            return false;
        }
        local.clear();
        boolean reading = isRead(opcode);
        int status = concernsOnlyThisSide
                ? RequestExecutor.DONE
                : executor.resolveLocal(local, request, at, flags, reading ? LOCAL_WRITE : 0);
        if (status == RequestExecutor.DONE && RequestExecutor.isAtomic(opcode) && local.total < Long.BYTES) {
            status = WorkStatus.LOCAL_LENGTH_ERROR.code();
        }
        if (status != RequestExecutor.DONE) {
            stop(next, status, 0);
            return false;
        }
        int place = place(next);
        firstMessage[place] = messages;
        sendNumber[place] = numbers.upcoming(Opcode.SEND);
        requestNumber[place] = numbers.upcoming(Opcode.READ_REQUEST);
        owed[place] = 0;
        begun = true;
        return true;
    }

    private boolean isUnderstood(int opcode) {
        if (isRead(opcode) && terms.mpa().outboundReads() == 0) {
            return false; // Agreed on by address: it would wait for ever.
        }
        if (RequestExecutor.isAtomic(opcode)) {
            return terms.has(PeerHandshake.FEATURE_ATOMIC);
        }
        return !RequestExecutor.hasImmediate(opcode) || terms.has(PeerHandshake.FEATURE_IMMEDIATE);
    }

    private static boolean isRead(int opcode) {
        return opcode == RequestExecutor.READ || RequestExecutor.isAtomic(opcode);
    }

    private int send(FrameOutput out, long at) {
        MemorySegment request = ring.segment();
        int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        boolean solicited =
                (request.get(JAVA_INT, at + SendRequestLayout.FLAGS) & SendRequestLayout.FLAG_SOLICITED) != 0;
        switch (opcode) {
            case RequestExecutor.SEND, RequestExecutor.SEND_WITH_IMMEDIATE, RequestExecutor.SEND_WITH_INVALIDATE ->
                beginSend(request, at, opcode, solicited);
            case RequestExecutor.WRITE, RequestExecutor.WRITE_WITH_IMMEDIATE -> {
                if (stage == 1) {
                    sendImmediate(out, networkInt(request, at), solicited);
                    return SENT;
                }
                message.beginTagged(
                        Opcode.WRITE,
                        request.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY),
                        request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS),
                        local);
                messages++;
            }
            case RequestExecutor.READ -> {
                return sendRead(out, request, at);
            }
            case RequestExecutor.COMPARE_AND_SWAP, RequestExecutor.FETCH_AND_ADD -> {
                return sendAtomic(out, request, at, opcode == RequestExecutor.COMPARE_AND_SWAP);
            }
            default -> {
                return carryOut(request, at, opcode);
            }
        }
        writeFrame(out, false);
        return SENT;
    }

    private void beginSend(MemorySegment request, long at, int opcode, boolean solicited) {
        int upperLayer = 0;
        int sendOpcode = solicited ? Opcode.SEND_SOLICITED : Opcode.SEND;
        if (opcode == RequestExecutor.SEND_WITH_IMMEDIATE) {
            upperLayer = networkInt(request, at);
            sendOpcode = solicited ? Opcode.SEND_SOLICITED_IMMEDIATE : Opcode.SEND_IMMEDIATE;
        } else if (opcode == RequestExecutor.SEND_WITH_INVALIDATE) {
            upperLayer = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
            sendOpcode = solicited ? Opcode.SEND_SOLICITED_INVALIDATE : Opcode.SEND_INVALIDATE;
        }
        message.beginUntagged(sendOpcode, upperLayer, numbers.take(sendOpcode), local);
        messages++;
    }

    /// Immediate data is in network order in the request: its first byte is the highest here.
    private static int networkInt(MemorySegment request, long at) {
        int value = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        return LITTLE_ENDIAN ? Integer.reverseBytes(value) : value;
    }

    private void sendImmediate(FrameOutput out, int value, boolean solicited) {
        int opcode = solicited ? Opcode.IMMEDIATE_SOLICITED : Opcode.IMMEDIATE;
        header.setUntagged(opcode, numbers.take(opcode));
        ImmediateData.encode(out.headers(), out.begin(header), value);
        out.end();
        messages++;
        stageDone();
    }

    /// One Read Request for each local element.
    private int sendRead(FrameOutput out, MemorySegment request, long at) {
        if (reads.isFull()) {
            return BLOCKED;
        }
        long remote = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        int key = request.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY);
        owed[place(next)]++;
        messages++;
        if (local.count == 0) {
            requestRead(out, next, 0, 0, 0, key, remote);
        } else {
            for (int i = 0; i < stage; i++) {
                remote += local.lengths[i];
            }
            // The sink is named by key and offset: nobody else ever uses the address.
            requestRead(out, next, local.keys[stage], local.offsets[stage], local.lengths[stage], key, remote);
        }
        stageDone();
        return SENT;
    }

    private void requestRead(
            FrameOutput out, long position, int sinkKey, long sink, long bytes, int sourceKey, long source) {
        reads.addRead(position, sinkKey, sink, bytes);
        readRequest.sinkKey = sinkKey;
        readRequest.sinkAddress = sink;
        readRequest.bytes = (int) bytes;
        readRequest.sourceKey = sourceKey;
        readRequest.sourceAddress = source;
        header.setUntagged(Opcode.READ_REQUEST, numbers.take(Opcode.READ_REQUEST));
        readRequest.encode(out.headers(), out.begin(header));
        out.end();
    }

    private int sendAtomic(FrameOutput out, MemorySegment request, long at, boolean compare) {
        if (reads.isFull()) {
            return BLOCKED;
        }
        long operand = request.get(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD);
        atomicRequest.operation = compare ? AtomicRequest.COMPARE_SWAP : AtomicRequest.FETCH_ADD;
        atomicRequest.identifier = (int) next;
        atomicRequest.key = request.get(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY);
        atomicRequest.address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        atomicRequest.value = compare ? request.get(JAVA_LONG, at + SendRequestLayout.SWAP) : operand;
        atomicRequest.compare = operand;
        header.setUntagged(Opcode.ATOMIC_REQUEST, numbers.take(Opcode.ATOMIC_REQUEST));
        atomicRequest.encode(out.headers(), out.begin(header));
        out.end();
        reads.addAtomic(next);
        owed[place(next)]++;
        messages++;
        stageDone();
        return SENT;
    }

    /// Requests about windows of this side.
    private int carryOut(MemorySegment request, long at, int opcode) {
        int status = executor.carryOutLocally(request, at, opcode);
        if (status != RequestExecutor.DONE) {
            stop(next, status, 0);
            begun = false;
            return BLOCKED;
        }
        stageDone();
        return LOCAL;
    }

    private void stageDone() {
        long at = ring.at(next);
        int opcode = ring.segment().get(JAVA_INT, at + SendRequestLayout.OPCODE);
        int stages = switch (opcode) {
            case RequestExecutor.WRITE_WITH_IMMEDIATE -> 2;
            case RequestExecutor.READ -> Math.max(1, local.count);
            default -> 1;
        };
        stage++;
        if (stage == stages) {
            endMessage[place(next)] = messages;
            next++;
            stage = 0;
            begun = false;
        }
    }

    /// Everything that was added has gone out: for a peer that does not acknowledge, that must do.
    void allWritten() {
        if (!terms.acknowledges()) {
            acknowledged = begun ? firstMessage[place(next)] : messages;
        }
    }

    // ---- What the peer says ----

    /// The peer has carried out `count` messages.
    ///
    /// @return false if it cannot have
    boolean acknowledge(int count) {
        if (Integer.compareUnsigned(count - acknowledged, messages - acknowledged) > 0) {
            return false;
        }
        acknowledged = count;
        return true;
    }

    /// How far the peer was when it said so last.
    int acknowledged() {
        return acknowledged;
    }

    /// The message after those acknowledged found no receive: goes back to it, and holds it.
    ///
    /// @return false if there is no such message
    boolean goBack() {
        long position = refused();
        if (position == NOWHERE) {
            return false;
        }
        int place = place(position);
        int opcode = ring.segment().get(JAVA_INT, ring.at(position) + SendRequestLayout.OPCODE);
        boolean immediate = opcode == RequestExecutor.WRITE_WITH_IMMEDIATE;
        if (!immediate && isRead(opcode)) {
            return false;
        }
        message.cancel();
        reads.removeFrom(position);
        numbers.rewind(Opcode.SEND, sendNumber[place]);
        numbers.rewind(Opcode.READ_REQUEST, requestNumber[place]);
        next = position;
        messages = acknowledged;
        // The Write before the Immediate Data was carried out.
        stage = immediate ? 1 : 0;
        begun = false;
        held = true;
        return true;
    }

    /// The request that the message after those acknowledged belongs to.
    private long refused() {
        for (long position = ring.head(); position < next || (position == next && begun); position++) {
            int place = place(position);
            int end = position == next ? messages : endMessage[place];
            if (Integer.compareUnsigned(acknowledged - firstMessage[place], end - firstMessage[place]) < 0) {
                return position;
            }
        }
        return NOWHERE;
    }

    /// What was held may go on.
    void release() {
        held = false;
    }

    /// The peer has refused the message after those acknowledged.
    void refuse(int status, int vendorError) {
        long position = refused();
        stop(position == NOWHERE ? ring.head() : position, status, vendorError);
    }

    /// What is held fails.
    void stopHeld(int status) {
        stop(next, status, 0);
    }

    private void stop(long position, int status, int vendorError) {
        if (stopAt == NOWHERE || position < stopAt) {
            stopAt = position;
            stopStatus = status;
            stopVendor = vendorError;
        }
    }

    // ---- Responses ----

    /// A segment of a Read Response comes.
    Violation beginResponse(SegmentHeader segment) {
        if (reads.isEmpty() || reads.isAtomic()) {
            return Violation.NOT_NEGOTIATED;
        }
        if (segment.key != reads.key()
                || segment.address != reads.address()
                || segment.payloadBytes > reads.left()
                || (segment.last && segment.payloadBytes != reads.left())) {
            return Violation.TAGGED_CONTINUATION;
        }
        placement.clear();
        readPosition = reads.position();
        readTarget = segment.payloadBytes > 0;
        if (readTarget) {
            SoftMemoryRegion region = executor.localRegion(reads.key());
            if (region == null) {
                return Violation.NONE;
            }
            placement.pieces.add(region.segment(), reads.key(), reads.address(), segment.payloadBytes);
        }
        return Violation.NONE;
    }

    /// The segment is there.
    void endResponse(SegmentHeader segment) {
        reads.advance(segment.payloadBytes);
        if (segment.last) {
            answered();
        }
    }

    /// An Atomic Response is there.
    Violation atomicResponse(int identifier, long original) {
        if (reads.isEmpty() || !reads.isAtomic() || identifier != (int) reads.position()) {
            return Violation.NOT_NEGOTIATED;
        }
        MemorySegment request = ring.segment();
        long at = ring.at(reads.position());
        result.clear();
        int status = executor.resolveLocal(result, request, at, 0, LOCAL_WRITE);
        if (status == RequestExecutor.DONE) {
            AtomicResult.store(result, original);
        } else {
            stop(reads.position(), status, 0);
        }
        answered();
        return Violation.NONE;
    }

    private void answered() {
        long position = reads.position();
        if (position != NOWHERE) {
            owed[place(position)]--;
        }
        reads.remove();
    }

    /// The memory that a response was to be placed into is gone.
    void lostSink() {
        stop(readPosition, WorkStatus.LOCAL_PROTECTION_ERROR.code(), 0);
    }

    // ---- Completing ----

    /// Completes what has ended, in posting order.
    ///
    /// @return whether the oldest request has failed: see [#failure]
    boolean settle() {
        long head = ring.head();
        while (head != next && head != stopAt && isDone(place(head))) {
            executor.completeSent(ring.segment(), ring.at(head));
            ring.removeHead();
            head++;
        }
        return head == stopAt;
    }

    private boolean isDone(int place) {
        return owed[place] == 0 && acknowledged - endMessage[place] >= 0;
    }

    /// What the oldest request has failed with.
    int failure() {
        return stopStatus;
    }

    /// More about it.
    int vendorError() {
        return stopVendor;
    }
}
