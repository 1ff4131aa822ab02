package io.rdmacomm.soft.roce;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Syndrome;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// The requester of a reliable connection (IBTA 9.7.5): sends the requests in a [RequestQueue] as packets, keeps
/// them there until they are acknowledged, and retransmits from the oldest unacknowledged packet on. Under the
/// queue pair's send lock; allocates nothing.
final class ReliableRequester {
    private static final int SUCCESS = 0;
    private static final long NOWHERE = Long.MAX_VALUE;
    private static final int SENT = 0;
    private static final int WAITS = 1;
    private static final int NO_ROOM = 2;
    private static final int NONE = -1;
    /// A packet that is still missing this many packets later is considered lost.
    private static final int REORDERED = 8;

    private final RequestQueue queue;
    private final WindowRequests windowRequests;
    private final Destination destination;
    private final RetryTimer retries;
    private final RoceCounters counters;
    private final int mtu;
    private final CongestionWindow window;
    private final SentPackets packets;
    private final RequestPackets requests;
    private final AnswerPlacement answers;
    /// The end of each unanswered part of a READ, and of each unanswered atomic operation.
    private final long[] readEnds;

    private long readHead;
    private long readTail;
    /// The position after the last request that has packets.
    private long begun;
    /// The request that the next packet belongs to.
    private long next;
    /// The next packet to send, the end of all packets ever sent, and the oldest unacknowledged one.
    private long cursor;

    private long sent;
    private long unacknowledged;
    /// All packets before it were executed, according to acknowledgements.
    private long executed;

    private final ArrivedPackets arrived = new ArrivedPackets();
    private long failing = NOWHERE;
    private int failure;
    private boolean held;
    /// Whether the oldest packet has found no receive and was not sent again.
    private boolean rejected;
    private int notReadyTimer = NONE;
    private long lastProgress = System.nanoTime();
    /// The packet it went back to without progress since.
    private long goneBackTo = NOWHERE;

    ReliableRequester(QueuePairResources queuePair, LocalMemory memory, PacketOutput output, RoceCounters counters) {
        this.queue = queuePair.sends();
        this.windowRequests = queuePair.windowRequests();
        this.destination = queuePair.destination();
        this.retries = queuePair.retries();
        this.counters = counters;
        this.mtu = destination.mtu();
        this.window = new CongestionWindow(mtu);
        this.packets = new SentPackets(destination.sendPsn(), queue.size());
        this.requests = new RequestPackets(queue, packets, output, PacketOpcode.RELIABLE, mtu);
        this.answers = new AnswerPlacement(memory, queue, mtu);
        this.readEnds = new long[Math.max(1, destination.outboundReads())];
        this.begun = queue.head();
        this.next = begun;
    }

    /// Whether any packet is unacknowledged.
    boolean isWaiting() {
        return unacknowledged != sent;
    }

    /// Whether requests are in flight. One that has found no receive will begin again.
    boolean hasBegun() {
        return queue.head() != begun && !rejected;
    }

    /// Whether there is nothing to send and no answer to wait for.
    boolean isIdle() {
        return queue.isOpen() && queue.head() == queue.tail() && unacknowledged == sent && cursor == sent;
    }

    /// Asks the peer for a sign of life, when [#isIdle()]. Sends the previous packet number, as TCP does (RFC 9293
    /// 3.8.4): the peer takes the packet for one that it has executed, and acknowledges it again (IBTA 9.7.1.1). So
    /// nothing here has to wait for the answer.
    void ask() {
        var _ = requests.sendNothing(cursor - 1);
    }

    CongestionWindow window() {
        return window;
    }

    // ---- Failing ----

    /// The status that the oldest request fails with, 0 for none.
    int failure() {
        return failing == queue.head() ? failure : SUCCESS;
    }

    private void fail(long position, int status) {
        if (position < failing) {
            failing = position;
            failure = status;
        }
    }

    /// The oldest request fails.
    void failOldest(int status) {
        fail(queue.head(), status);
    }

    // ---- Sending ----

    /// Sends as much as the window allows.
    ///
    /// @return false if the socket has no room
    boolean send() {
        // Memory may have been deregistered since the last time.
        requests.forgetMemory();
        int result = SENT;
        while (result == SENT) {
            result = sendNext();
        }
        return result != NO_ROOM;
    }

    private int sendNext() {
        if (next < begun && cursor == packets.end(next)) {
            next++;
        }
        boolean closed = rejected && !queue.isOpen();
        if (held || closed || next >= failing || next == queue.tail()) {
            return WAITS;
        }
        if (next == begun) {
            return begin() ? SENT : WAITS;
        }
        long inFlight = cursor - unacknowledged;
        boolean reading = requests.isRead(next);
        boolean full = inFlight >= window.packets() || (reading && readTail - readHead == readEnds.length);
        if (full || !succeeds(next, requests.resolve(next))) {
            return WAITS;
        }
        int count = requests.count(next, cursor);
        // Ask for an answer to the last packet in the window, or nothing would ever be sent again.
        if (!requests.send(next, cursor, inFlight + 1 >= window.packets())) {
            return NO_ROOM;
        }
        rejected = false;
        cursor += count;
        sent = Math.max(sent, cursor);
        if (reading) {
            readEnds[(int) (readTail % readEnds.length)] = cursor;
            readTail++;
        }
        return SENT;
    }

    /// @param status the status that the request fails with, or 0
    private boolean succeeds(long position, int status) {
        if (status != SUCCESS) {
            fail(position, status);
        }
        return status == SUCCESS;
    }

    /// Begins the next request.
    ///
    /// @return false if it must wait, or fails
    private boolean begin() {
        if (!queue.isOpen()) {
            return false;
        }
        MemorySegment request = queue.segment();
        long at = queue.at(next);
        int opcode = requests.opcode(next);
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        if (RequestOpcode.isLocal(opcode)) {
            return carryOut(request, at);
        }
        if (RequestOpcode.isRead(opcode) && destination.outboundReads() == 0) {
            // It would never be answered.
            fail(next, WorkStatus.REMOTE_INVALID_REQUEST.code());
            return false;
        }
        if ((flags & SendRequestLayout.FLAG_FENCE) != 0 && readHead != readTail) {
            return false;
        }
        if (!succeeds(next, requests.resolve(next)) || !succeeds(next, requests.begin(next, cursor))) {
            return false;
        }
        begun++;
        return true;
    }

    /// Executes a request on a local memory window once all earlier requests have completed: a flushed one must
    /// have no effect.
    private boolean carryOut(MemorySegment request, long at) {
        if (next != queue.head()) {
            return false;
        }
        int status = windowRequests.execute(request, at);
        if (status != SUCCESS) {
            fail(next, status);
            return false;
        }
        queue.completer().succeed(request, at);
        queue.removeHead();
        begun++;
        next++;
        return true;
    }

    // ---- Answers ----

    /// An answer of the peer has arrived.
    ///
    /// @param from the packet
    void receive(Packet packet, MemorySegment from) {
        long number = packets.packet(packet.psn, unacknowledged);
        if (number < unacknowledged || number >= sent) {
            return;
        }
        switch (packet.opcode) {
            case PacketOpcode.ACKNOWLEDGE -> acknowledge(number, packet.syndrome);
            case PacketOpcode.ATOMIC_ACKNOWLEDGE -> {
                if (isForOldest(number)) {
                    endAtomic(packet.original);
                }
            }
            default -> receiveRead(number, packet, from);
        }
    }

    private void acknowledge(long number, int syndrome) {
        if (Syndrome.isDone(syndrome)) {
            executed = Math.max(executed, number + 1);
            if (!progress(number + 1)) {
                repeat();
            }
            return;
        }
        boolean reached = progress(number);
        if (Syndrome.isNotReady(syndrome) && reached) {
            goBack();
            held = true;
            rejected = true;
            notReadyTimer = Syndrome.timer(syndrome);
            return;
        }
        int status = Syndrome.status(syndrome).code();
        if (status != SUCCESS && reached) {
            failOldest(status);
        } else if (status != SUCCESS || syndrome == Syndrome.SEQUENCE_ERROR || Syndrome.isNotReady(syndrome)) {
            repeat();
        }
    }

    /// All packets before `number` have been executed.
    ///
    /// @return false if one of them is a READ or an atomic operation that was not answered
    private boolean progress(long number) {
        long before = unacknowledged;
        while (unacknowledged < number) {
            long oldest = queue.head();
            long end = packets.end(oldest);
            if (requests.isRead(oldest)) {
                break;
            }
            unacknowledged = Math.min(number, end);
            if (unacknowledged == end) {
                completeOldest();
            }
        }
        progressed(before);
        return unacknowledged == number;
    }

    private void progressed(long before) {
        if (unacknowledged == before) {
            return;
        }
        window.grow(unacknowledged - before);
        retries.progressed();
        lastProgress = System.nanoTime();
        if (cursor < unacknowledged) {
            // These packets were about to be retransmitted.
            cursor = unacknowledged;
            next = queue.head();
        }
        while (readHead != readTail && readEnds[(int) (readHead % readEnds.length)] <= unacknowledged) {
            readHead++;
        }
    }

    private void completeOldest() {
        queue.completer().succeed(queue.segment(), queue.headAt());
        queue.removeHead();
        if (failing < queue.head()) {
            failing = NOWHERE;
        }
    }

    /// Handles an answer with data, which acknowledges everything before it.
    ///
    /// @return whether it is the next one for the oldest request
    private boolean isForOldest(long number) {
        if (!progress(number)) {
            repeat();
            return false;
        }
        return queue.head() != begun && requests.isRead(queue.head());
    }

    private void endAtomic(long original) {
        if (succeeds(queue.head(), answers.store(queue.head(), original))) {
            answered(1);
        }
    }

    /// A part of the answer to a READ has arrived. Parts of the oldest READ may come in any order.
    private void receiveRead(long number, Packet packet, MemorySegment from) {
        var _ = progress(number);
        long oldest = queue.head();
        if (oldest == begun || !requests.isRead(oldest)) {
            return;
        }
        if (number >= packets.end(oldest) || number - unacknowledged >= ArrivedPackets.MOST) {
            repeat();
            return;
        }
        long offset = (number - packets.begin(oldest)) * mtu;
        if (!succeeds(oldest, answers.place(oldest, offset, packet, from))) {
            return;
        }
        arrived.add(number);
        int count = 0;
        while (arrived.take(unacknowledged + count)) {
            count++;
        }
        long last = unacknowledged + count;
        if (count > 0) {
            answered(count);
        }
        boolean complete = number < last;
        if (!complete && (PacketOpcode.isLast(packet.opcode) || number - last >= REORDERED)) {
            repeat();
        }
    }

    private void answered(int count) {
        long before = unacknowledged;
        unacknowledged += count;
        if (unacknowledged == packets.end(queue.head())) {
            completeOldest();
        }
        progressed(before);
        // Later requests were acknowledged while this answer was missing.
        var _ = progress(executed);
    }

    // ---- Retransmitting ----

    /// The timer code if the peer had no receive, else -1; resets it.
    int takeNotReadyTimer() {
        int timer = notReadyTimer;
        notReadyTimer = NONE;
        return timer;
    }

    /// Requests that were held back may be sent.
    void release() {
        held = false;
    }

    /// Whether it waits for the peer to have a receive.
    boolean isHeld() {
        return held;
    }

    /// The time of the last acknowledgement, or of [#touch()].
    long lastProgress() {
        return lastProgress;
    }

    /// Notes that no answer was due before now.
    void touch() {
        lastProgress = System.nanoTime();
    }

    /// Retransmits because a packet is missing at the peer, or an answer here. Only once until there is progress:
    /// the peer or the network reports this again for each packet after the missing one.
    private void repeat() {
        if (!held && goneBackTo != unacknowledged) {
            goneBackTo = unacknowledged;
            repeatUnanswered();
        }
    }

    /// Retransmits because the peer has not answered in time, or reports a missing packet.
    void repeatUnanswered() {
        int status = retries.repeats();
        if (status != SUCCESS) {
            failOldest(status);
            return;
        }
        window.shrink();
        counters.repetitions.getAndIncrement();
        touch();
        goBack();
    }

    private void goBack() {
        cursor = unacknowledged;
        next = queue.head();
        readHead = 0;
        readTail = 0;
    }

    /// Releases all memory.
    void close() {
        answers.close();
        requests.close();
    }
}
