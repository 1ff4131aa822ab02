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

/// The requester of a reliable connection (IBTA 9.7.5): sends the requests in a [RequestQueue] as packets, keeps them
/// there until they are acknowledged, and repeats from the oldest packet on that is not. Under the queue pair's send
/// lock; allocates nothing.
final class ReliableRequester {
    private static final int SUCCESS = 0;
    private static final long NOWHERE = Long.MAX_VALUE;
    private static final int SENT = 0;
    private static final int WAITS = 1;
    private static final int NO_ROOM = 2;
    private static final int NONE = -1;
    /// A packet that is still missing so many packets later is taken for lost.
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
    /// Behind the last packet of each part of a READ, and each atomic operation, that was not answered.
    private final long[] readEnds;

    private long readHead;
    private long readTail;
    /// Behind the last request that has packets.
    private long begun;
    /// The request that the next packet belongs to.
    private long next;
    /// The next packet to send, the one behind the last that was ever sent, and the oldest that is not acknowledged.
    private long cursor;

    private long sent;
    private long unacknowledged;
    /// Everything before it has been executed, as far as acknowledgements say.
    private long executed;

    private final ArrivedPackets arrived = new ArrivedPackets();
    private long failing = NOWHERE;
    private int failure;
    private boolean held;
    /// Whether the oldest packet has found no receive, and was not sent since.
    private boolean rejected;
    private int notReadyTimer = NONE;
    private long lastProgress = System.nanoTime();
    /// Where it went back to and has not made progress since.
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

    /// Whether packets were sent that are not acknowledged.
    boolean isWaiting() {
        return unacknowledged != sent;
    }

    /// Whether requests were begun that have not ended. One that has found no receive is to begin again.
    boolean hasBegun() {
        return queue.head() != begun && !rejected;
    }

    /// Whether nothing is to be sent, and nothing to be answered.
    boolean isIdle() {
        return queue.isOpen() && queue.head() == queue.tail() && unacknowledged == sent && cursor == sent;
    }

    /// Asks the peer for a sign of life, when [#isIdle()]. As in TCP (RFC 9293 3.8.4), with the number before the next:
    /// the peer takes the packet for one that it has executed, and acknowledges it again (IBTA 9.7.1.1). So nothing
    /// here has to wait for the answer.
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
        // Without an answer to the last packet in the window nothing would ever be sent again.
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

    /// @param status that the request fails with, or 0
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

    /// Executes a request about a window of this side, when all before it have ended: a flushed one must have had no
    /// effect.
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
            // The answer to packets that were about to be repeated.
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

    /// An answer with data acknowledges everything before it.
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
        // Requests behind it were acknowledged while this answer was missing.
        var _ = progress(executed);
    }

    // ---- Repeating ----

    /// The peer had no receive, asked once: the code of its timer, or -1.
    int takeNotReadyTimer() {
        int timer = notReadyTimer;
        notReadyTimer = NONE;
        return timer;
    }

    /// Requests that were held back may be sent.
    void release() {
        held = false;
    }

    /// Whether it waits until the peer may have a receive.
    boolean isHeld() {
        return held;
    }

    /// When the peer has acknowledged something, or the time of [#touch()].
    long lastProgress() {
        return lastProgress;
    }

    /// Nothing is expected of the peer before now.
    void touch() {
        lastProgress = System.nanoTime();
    }

    /// A packet is missing at the peer, or an answer here. Once until there is progress: the peer, or the network, says
    /// so again for each packet behind the missing one.
    private void repeat() {
        if (!held && goneBackTo != unacknowledged) {
            goneBackTo = unacknowledged;
            repeatUnanswered();
        }
    }

    /// The peer has not answered in time, or says that a packet is missing.
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
