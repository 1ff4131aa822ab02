package io.rdmacomm.tests.soak;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The send queue of one side of a link: posts the requests of a plan in bursts, confirms the messages of the peer,
/// and checks each request when it ends. For the thread of the link; other threads only read its numbers.
final class Sender {
    private static final long CONFIRMATION = 1L << 61;
    private static final long PROBE = 1L << 60;

    private final Shape shape;
    private final Plan plan;
    private final Random random;
    private final double burstsPerNano;
    private final QueuePair queuePair;
    private final MemoryRegion buffers;
    private final Tally tally;
    private final Consumer<String> violations;
    private final SendBatch batch;
    private final SendBatch single;
    private final MemorySegment scratch;
    private final SendLedger ledger;
    private @Nullable RemoteMemory target;

    /// Requests: the next one, the one before which all have ended, and the one before which the peer's device has
    /// acknowledged all messages.
    private long next;
    private long done;
    private long acknowledged;
    /// Requests that the peer has confirmed, and messages of the peer that this side has confirmed.
    private long confirmedByPeer;
    private long confirmedToPeer;
    private boolean confirming;
    private boolean probed;
    /// The value of the peer's word for atomics: after all requests, and before and after each one in the window.
    private long model;
    private final long[] before;
    private final long[] after;
    /// Requests that the bursts until now allow.
    private long quota;
    private long nextBurst = System.nanoTime();

    /// @param rate requests in a second
    /// @param buffers memory that begins with a slot for each request of the window
    /// @param violations is told each violated rule
    Sender(
            Shape shape,
            Plan plan,
            Random random,
            double rate,
            QueuePair queuePair,
            MemoryRegion buffers,
            Arena arena,
            Tally tally,
            Consumer<String> violations) {
        this.shape = shape;
        this.plan = plan;
        this.random = random;
        this.burstsPerNano = rate / 1e9;
        this.queuePair = queuePair;
        this.buffers = buffers;
        this.tally = tally;
        this.violations = violations;
        batch = SendBatch.create(arena, shape.chain(), 2);
        single = SendBatch.create(arena, 1, 1, 8);
        scratch = arena.allocate(8, 8);
        ledger = new SendLedger(Shape.COMPLETIONS, this::ended);
        before = new long[shape.window()];
        after = new long[shape.window()];
    }

    void connect(RemoteMemory peerWindow) {
        target = peerWindow;
    }

    /// Posts the next requests, if the bursts, the window and the send queue allow it. Returns whether it has.
    ///
    /// @param finishing whether to go no further than to the signaled SEND that ends a group
    boolean issue(boolean finishing) {
        long now = System.nanoTime();
        if (now >= nextBurst) {
            int size = 1 + random.nextInt(3 * shape.window());
            quota = Math.min(quota, shape.window()) + size;
            nextBurst = Math.max(nextBurst, now - TimeUnit.SECONDS.toNanos(1)) + (long) (size / burstsPerNano);
        }
        long limit = Math.min(confirmedByPeer, done) + shape.window();
        if (finishing) {
            limit = Math.min(limit, (next + Plan.GROUP - 1) / Plan.GROUP * Plan.GROUP);
            quota = Plan.GROUP;
        }
        int count = (int) Math.min(Math.min(limit - next, quota), 1 + random.nextInt(shape.chain()));
        if (count <= 0) {
            return false;
        }
        batch.clear();
        long value = model;
        for (long number = next; number < next + count; number++) {
            value = append(number, value);
        }
        int posted = queuePair.post(batch);
        for (long number = next; number < next + posted; number++) {
            ledger.posted(number, plan.isSignaled(number));
            if (plan.kind(number).isInline()) {
                // Its memory may be reused at once.
                buffers.segment()
                        .asSlice(shape.slotAt(number), plan.length(number))
                        .fill((byte) 0x77);
            }
            if (plan.kind(number).isAtomic()) {
                model = after[shape.index(number)];
            }
        }
        next += posted;
        quota -= posted;
        return posted > 0;
    }

    /// Adds a request; returns the value of the peer's word after it.
    private long append(long number, long value) {
        RemoteMemory to = Objects.requireNonNull(target);
        Kind kind = plan.kind(number);
        int length = plan.length(number);
        long at = shape.slotAt(number);
        long result = value;
        if (!kind.returns()) {
            Content.fill(buffers.segment(), at, length, plan.key(number), 0);
        }
        switch (kind) {
            case SEND, SEND_INLINE -> batch.send(number);
            case SEND_WITH_IMMEDIATE -> batch.sendWithImmediate(number, plan.immediate(number));
            case WRITE, WRITE_INLINE -> batch.write(number, to.slice(at, length));
            case WRITE_WITH_IMMEDIATE -> batch.writeWithImmediate(number, to.slice(at, length), plan.immediate(number));
            case READ -> batch.read(number, to.slice(shape.constantAt() + plan.offset(number), length));
            case READ_BACK -> {
                long source = plan.written(number);
                batch.read(number, to.slice(source < 0 ? shape.constantAt() : shape.slotAt(source), length));
            }
            case FETCH_AND_ADD -> {
                batch.fetchAndAdd(number, to.slice(shape.wordAt(), 8), plan.operand(number));
                result = value + plan.operand(number);
            }
            case COMPARE_AND_SWAP -> {
                boolean right = plan.isExpectedRight(number);
                batch.compareAndSwap(number, to.slice(shape.wordAt(), 8), right ? value : ~value, plan.operand(number));
                result = right ? plan.operand(number) : value;
            }
        }
        before[shape.index(number)] = value;
        after[shape.index(number)] = result;
        long first = length > 8 && (plan.key(number) & 1) == 0 ? length / 2 : length;
        if (length > 0) {
            batch.with(buffers, at, first);
        }
        if (first < length) {
            batch.with(buffers, at + first, length - first);
        }
        if (kind.isInline()) {
            batch.inline();
        }
        if (plan.isFenced(number)) {
            batch.fenced();
        }
        if (plan.isSignaled(number)) {
            batch.signaled();
        }
        return result;
    }

    /// Tells the peer how many of its messages have arrived, when they are enough. Returns whether it has. TCP may
    /// place the word in two parts, so it has a complement.
    boolean confirm(long received) {
        if (confirming || received - confirmedToPeer < shape.window() / 4) {
            return false;
        }
        RemoteMemory to = Objects.requireNonNull(target).slice(shape.confirmationAt(), 8);
        scratch.set(JAVA_LONG, 0, (received & 0xffffffffL) | ((long) ~(int) received << 32));
        long id = CONFIRMATION | received;
        single.clear();
        if (shape.noticed()) {
            single.writeWithImmediate(id, to, Plan.CONFIRMING);
        } else {
            single.write(id, to);
        }
        single.inline(scratch, 0, 8).signaled();
        if (queuePair.post(single) == 0) {
            return false;
        }
        ledger.posted(id, true);
        confirming = true;
        confirmedToPeer = received;
        return true;
    }

    /// Takes a confirmation of the peer.
    void confirmed(int count) {
        if (count < confirmedByPeer || count > next) {
            violations.accept("wrong: the peer confirms " + count + " after " + confirmedByPeer + ", and " + next
                    + " were posted");
        }
        confirmedByPeer = Math.max(count, confirmedByPeer);
    }

    /// Finds the end of requests after a failure: an unsignaled one that succeeded has no completion, and only the
    /// flush of a later one tells that it has ended. Returns whether all have ended.
    boolean probe() {
        if (!probed && queuePair.query().state() == QueuePairState.ERROR) {
            single.clear().send(PROBE).signaled();
            queuePair.post(single);
            ledger.posted(PROBE, true);
            probed = true;
        }
        return probed && ledger.isEmpty();
    }

    void completed(long id, boolean success) {
        report(ledger.completed(id, success));
    }

    private void report(@Nullable String wrong) {
        if (wrong != null) {
            violations.accept(wrong);
        }
    }

    private void ended(long id, boolean success) {
        if ((id & (CONFIRMATION | PROBE)) != 0) {
            confirming = false;
            return;
        }
        if (id != done) {
            violations.accept("lost: request " + done + " has not ended, but " + id + " has");
        }
        done = id + 1;
        if (!success) {
            return;
        }
        Kind kind = plan.kind(id);
        tally.done(kind);
        if (kind.notifies()) {
            acknowledged = id + 1;
        }
        if (kind.isInline()) {
            return;
        }
        report(kind.returns() ? wrongResult(id, kind) : changedSource(id, kind));
        if (!Content.isGuarded(buffers.segment(), shape.slotAt(id) + shape.slot())) {
            violations.accept("wrong: the bytes after the memory of " + kind + " " + id + " have changed");
        }
    }

    private @Nullable String changedSource(long id, Kind kind) {
        long at = Content.wrong(buffers.segment(), shape.slotAt(id), plan.length(id), plan.key(id), 0);
        return at < 0 ? null : "wrong: the source of " + kind + " " + id + " has changed at byte " + at;
    }

    private @Nullable String wrongResult(long id, Kind kind) {
        if (kind.isAtomic()) {
            long old = buffers.segment().get(JAVA_LONG, shape.slotAt(id));
            long wanted = before[shape.index(id)];
            return old == wanted ? null : "wrong: " + kind + " " + id + " returned " + old + " instead of " + wanted;
        }
        long source = kind == Kind.READ_BACK ? plan.written(id) : -1;
        long key = source >= 0 ? plan.key(source) : plan.constantKey();
        long start = kind == Kind.READ ? plan.offset(id) : 0;
        tally.bytes(plan.length(id));
        long at = Content.wrong(buffers.segment(), shape.slotAt(id), plan.length(id), key, start);
        return at < 0 ? null : "wrong: " + kind + " " + id + " returned a wrong byte " + at;
    }

    /// Describes a request that failed and has not been taken from the ledger yet.
    String describe(long id, int vendorError) {
        String work = (id & (CONFIRMATION | PROBE)) != 0
                ? "a confirmation"
                : plan.kind(id) + " of " + plan.length(id) + " bytes";
        return work + ", vendor error " + vendorError + ", in flight for " + ledger.age(id) / 1_000_000 + " ms";
    }

    /// Nanoseconds until the next burst; as long as possible if only a completion or a confirmation lets it go on.
    long untilBurst() {
        return quota > 0 ? Long.MAX_VALUE : nextBurst - System.nanoTime();
    }

    /// Returns whether everything has ended, up to the end of a group.
    boolean isQuiet() {
        return next % Plan.GROUP == 0 && done == next && !confirming;
    }

    long posted() {
        return next;
    }

    long done() {
        return done;
    }

    long acknowledged() {
        return acknowledged;
    }

    /// The value that the peer's word for atomics must have.
    long word() {
        return model;
    }

    @Override
    public String toString() {
        return "posted " + next + ", ended " + done + ", in flight " + ledger.inFlight() + ", confirmed "
                + confirmedByPeer;
    }
}
