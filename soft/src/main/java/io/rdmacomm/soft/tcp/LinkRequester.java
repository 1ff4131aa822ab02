package io.rdmacomm.soft.tcp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.iwarp.AtomicRequest;
import io.rdmacomm.soft.iwarp.ImmediateData;
import io.rdmacomm.soft.iwarp.MessageNumbers;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.NetworkOrder;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The requester's half of a link: turns the requests in a [RequestQueue] into messages. Under the queue
/// pair's send lock.
final class LinkRequester {
    private static final int SHORT = 32;
    private static final long PAGE = 4096;
    private static final int SUCCESS = 0;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private static final int FENCE = SendRequestLayout.FLAG_FENCE;
    private static final int LOCAL = 0;
    private static final int SENT = 1;
    private static final int BLOCKED = 2;

    private final RequestQueue queue;
    private final WindowRequests windowRequests;
    private final LinkTerms terms;
    private final SentRequests sent;
    private final OutstandingReads reads;
    private final AwaitedResponses responses;
    private final OutgoingMessage message;
    private final MessageNumbers numbers = new MessageNumbers();
    private final SegmentHeader header = new SegmentHeader();
    private final ReadRequest readRequest = new ReadRequest();
    private final AtomicRequest atomicRequest = new AtomicRequest();
    // Each element may be split.
    private final ElementList local = new ElementList(2 * ElementList.MAX_ELEMENTS);
    private boolean held;
    private @Nullable String whyUnsupported;

    LinkRequester(LocalMemory memory, RequestQueue queue, WindowRequests windowRequests, LinkTerms terms) {
        this.queue = queue;
        this.windowRequests = windowRequests;
        this.terms = terms;
        this.sent = new SentRequests(queue, terms.acknowledges());
        this.reads = new OutstandingReads(terms.mpa().outboundReads());
        this.responses = new AwaitedResponses(memory, queue, sent, reads);
        this.message = new OutgoingMessage(memory, terms.segmentLimit());
    }

    /// The state of the requests that were sent.
    SentRequests sent() {
        return sent;
    }

    /// The peer's responses.
    AwaitedResponses responses() {
        return responses;
    }

    // ---- Sending ----

    /// Whether a message has begun and not ended, so that no other frame may be sent.
    boolean isInside() {
        return message.isActive();
    }

    /// Adds an empty Write, whose key is not checked (RFC 5040 5.2). As the first frame of an initiator it lets the
    /// responder send (RFC 6581 5).
    void announceWrite(FrameOutput out) {
        header.setTagged(Opcode.WRITE, true, 1, 0, 0);
        out.begin(header);
        out.end();
    }

    /// The same with an empty Read.
    void announceRead(FrameOutput out) {
        requestRead(out, SentRequests.NOWHERE, 0, 0, 0, 1, 0);
    }

    /// Adds the next frame.
    ///
    /// @param mayBegin whether a new request may begin
    /// @return false if there is none
    boolean writeFrame(FrameOutput out, boolean mayBegin) {
        if (message.isActive()) {
            if (!message.writeFrame(out)) {
                // Deregistered during the send. A message that has begun cannot be canceled.
                sent.stopNext(WorkStatus.LOCAL_PROTECTION_ERROR.code());
                message.cancel();
                return false;
            }
            if (!message.isActive()) {
                stageDone();
            }
            return true;
        }
        while (mayBegin && !held && sent.hasNext()) {
            long at = queue.at(sent.next());
            if (!sent.isBegun() && !begin(at)) {
                return false;
            }
            int done = send(out, at);
            if (done != LOCAL) {
                return done == SENT;
            }
        }
        return false;
    }

    /// Prepares the next request.
    ///
    /// @return false if it must wait, or fails
    private boolean begin(long at) {
        MemorySegment request = queue.segment();
        int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        boolean concernsOnlyThisSide = RequestOpcode.isLocal(opcode);
        // A flushed bind request must have no effect, so it waits until all earlier requests have completed.
        if (concernsOnlyThisSide && !sent.isNextOldest()) {
            return false;
        }
        if ((flags & FENCE) != 0 && !reads.isEmpty()) {
            return false;
        }
        whyUnsupported = whyUnsupported(opcode);
        if (whyUnsupported != null) {
            sent.stopNext(WorkStatus.REMOTE_INVALID_REQUEST.code());
            return false;
        }
        local.clear();
        boolean reading = RequestOpcode.isRead(opcode);
        int status = concernsOnlyThisSide
                ? SUCCESS
                : queue.localElements().resolve(local, request, at, flags, reading ? LOCAL_WRITE : 0);
        if (status == SUCCESS && RequestOpcode.isAtomic(opcode) && local.total < Long.BYTES) {
            status = WorkStatus.LOCAL_LENGTH_ERROR.code();
        }
        if (status != SUCCESS) {
            sent.stopNext(status);
            return false;
        }
        if (opcode == RequestOpcode.READ && !terms.acknowledges()) {
            splitShortReads(request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS));
        }
        sent.begin(numbers.upcoming(Opcode.SEND), numbers.upcoming(Opcode.READ_REQUEST));
        return true;
    }

    /// Splits a short READ that crosses a page: the peer may be siw, which miscounts at the end of a page
    /// (`siw_try_1seg`) and answers with wrong bytes.
    private void splitShortReads(long remote) {
        long source = remote;
        for (int i = 0; i < local.count; i++) {
            long before = PAGE - (source & PAGE - 1);
            if (local.lengths[i] <= SHORT && local.lengths[i] > before) {
                local.split(i, before);
            }
            source += local.lengths[i];
        }
    }

    /// Why a request cannot be sent to this peer, or null. [QueuePair#post] rejects most such requests; those that
    /// were posted before the link was set up get here.
    private @Nullable String whyUnsupported(int opcode) {
        if (RequestOpcode.isRead(opcode) && terms.mpa().outboundReads() == 0) {
            // It would never be answered.
            return "a READ was not sent: the connection's initiator depth is 0";
        }
        if (RequestOpcode.isAtomic(opcode) && !terms.has(PeerHandshake.FEATURE_ATOMIC)) {
            return "an atomic operation was not sent: the peer does not support it";
        }
        return RequestOpcode.hasImmediate(opcode) && !terms.has(PeerHandshake.FEATURE_IMMEDIATE)
                ? "immediate data was not sent: the peer does not support it"
                : null;
    }

    /// Why the last request was not sent, if the peer cannot execute it; else null.
    @Nullable
    String whyUnsupported() {
        return whyUnsupported;
    }

    private int send(FrameOutput out, long at) {
        MemorySegment request = queue.segment();
        int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        boolean solicited =
                (request.get(JAVA_INT, at + SendRequestLayout.FLAGS) & SendRequestLayout.FLAG_SOLICITED) != 0;
        switch (opcode) {
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE, RequestOpcode.SEND_WITH_INVALIDATE ->
                beginSend(request, at, opcode, solicited);
            case RequestOpcode.WRITE, RequestOpcode.WRITE_WITH_IMMEDIATE -> {
                if (sent.stage() == 1) {
                    sendImmediate(out, immediate(request, at), solicited);
                    return SENT;
                }
                message.beginTagged(
                        Opcode.WRITE,
                        request.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY),
                        request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS),
                        local);
                sent.countMessage();
            }
            case RequestOpcode.READ -> {
                return sendRead(out, request, at);
            }
            case RequestOpcode.COMPARE_AND_SWAP, RequestOpcode.FETCH_AND_ADD -> {
                return sendAtomic(out, request, at, opcode == RequestOpcode.COMPARE_AND_SWAP);
            }
            default -> {
                return carryOut(request, at);
            }
        }
        writeFrame(out, false);
        return SENT;
    }

    private void beginSend(MemorySegment request, long at, int opcode, boolean solicited) {
        int upperLayer = 0;
        int sendOpcode = solicited ? Opcode.SEND_SOLICITED : Opcode.SEND;
        if (opcode == RequestOpcode.SEND_WITH_IMMEDIATE) {
            upperLayer = immediate(request, at);
            sendOpcode = solicited ? Opcode.SEND_SOLICITED_IMMEDIATE : Opcode.SEND_IMMEDIATE;
        } else if (opcode == RequestOpcode.SEND_WITH_INVALIDATE) {
            upperLayer = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
            sendOpcode = solicited ? Opcode.SEND_SOLICITED_INVALIDATE : Opcode.SEND_INVALIDATE;
        }
        message.beginUntagged(sendOpcode, upperLayer, numbers.take(sendOpcode), local);
        sent.countMessage();
    }

    private static int immediate(MemorySegment request, long at) {
        return NetworkOrder.convert(request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE));
    }

    private void sendImmediate(FrameOutput out, int value, boolean solicited) {
        int opcode = solicited ? Opcode.IMMEDIATE_SOLICITED : Opcode.IMMEDIATE;
        header.setUntagged(opcode, numbers.take(opcode));
        ImmediateData.encode(out.headers(), out.begin(header), value);
        out.end();
        sent.countMessage();
        stageDone();
    }

    /// One Read Request for each local element.
    private int sendRead(FrameOutput out, MemorySegment request, long at) {
        if (reads.isFull()) {
            return BLOCKED;
        }
        long remote = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        int key = request.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY);
        sent.expectResponse();
        sent.countMessage();
        int stage = sent.stage();
        if (local.count == 0) {
            requestRead(out, sent.next(), 0, 0, 0, key, remote);
        } else {
            for (int i = 0; i < stage; i++) {
                remote += local.lengths[i];
            }
            // Names the sink by key and offset, which only this side interprets.
            requestRead(out, sent.next(), local.keys[stage], local.offsets[stage], local.lengths[stage], key, remote);
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
        atomicRequest.identifier = (int) sent.next();
        atomicRequest.key = request.get(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY);
        atomicRequest.address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        atomicRequest.value = compare ? request.get(JAVA_LONG, at + SendRequestLayout.SWAP) : operand;
        atomicRequest.compare = operand;
        header.setUntagged(Opcode.ATOMIC_REQUEST, numbers.take(Opcode.ATOMIC_REQUEST));
        atomicRequest.encode(out.headers(), out.begin(header));
        out.end();
        reads.addAtomic(sent.next());
        sent.expectResponse();
        sent.countMessage();
        stageDone();
        return SENT;
    }

    /// Executes a request on a local memory window.
    private int carryOut(MemorySegment request, long at) {
        int status = windowRequests.execute(request, at);
        if (status != SUCCESS) {
            sent.stopNext(status);
            sent.abandon();
            return BLOCKED;
        }
        stageDone();
        return LOCAL;
    }

    private void stageDone() {
        long at = queue.at(sent.next());
        int opcode = queue.segment().get(JAVA_INT, at + SendRequestLayout.OPCODE);
        sent.endStage(
                switch (opcode) {
                    case RequestOpcode.WRITE_WITH_IMMEDIATE -> 2;
                    case RequestOpcode.READ -> Math.max(1, local.count);
                    default -> 1;
                });
    }

    // ---- Going back ----

    /// Goes back to the first unacknowledged message, which found no receive, and holds requests back.
    ///
    /// @return false if there is no such message
    boolean goBack() {
        long position = sent.refused();
        if (position == SentRequests.NOWHERE) {
            return false;
        }
        int opcode = queue.segment().get(JAVA_INT, queue.at(position) + SendRequestLayout.OPCODE);
        if (RequestOpcode.isRead(opcode)) {
            return false;
        }
        message.cancel();
        reads.removeFrom(position);
        numbers.rewind(Opcode.SEND, sent.sendNumber(position));
        numbers.rewind(Opcode.READ_REQUEST, sent.requestNumber(position));
        // The Write before the Immediate Data was carried out.
        sent.goBackTo(position, opcode == RequestOpcode.WRITE_WITH_IMMEDIATE ? 1 : 0);
        held = true;
        return true;
    }

    /// Requests that were held back may be sent.
    void release() {
        held = false;
    }
}
