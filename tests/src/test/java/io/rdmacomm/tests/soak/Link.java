package io.rdmacomm.tests.soak;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// One side of one life of a link: a queue pair with its memory, the requests that it posts, and the checks of what
/// it gets. One thread posts and polls; other threads ask for an end.
final class Link implements Runnable {
    static final long GUARD_KEY = 0x6775617264L;

    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final long CREDIT = 1L << 61;
    private static final long PROBE = 1L << 60;
    private static final int CREDIT_IMMEDIATE = Integer.MIN_VALUE;
    private static final long UNTOUCHED_KEY = 0x756e746f75636865L;
    private static final int COMPLETIONS = 512;
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long NEVER_REACHED_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long NEVER_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration EVENT_FOLLOWS = Duration.ofSeconds(5);

    private final String name;
    private final long epoch;
    private final Shape shape;
    private final Shape.Style style;
    private final Plan mine;
    private final Plan theirs;
    private final Reporter reporter;
    private final Tally tally;
    private final Random random;
    private final double burstsPerNano;

    private final Arena arena = Arena.ofShared();
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue completionQueue;
    private final QueuePair queuePair;
    private final MemoryRegion window;
    private final MemoryRegion buffers;
    private final Inbox inbox;
    private final SendBatch batch;
    private final SendBatch creditBatch;
    private final MemorySegment scratch = arena.allocate(8, 8);
    private final Completions completions;
    private final SendLedger sends;
    private final Thread thread;
    private @Nullable RemoteMemory target;

    /// Requests: the next one, and the one before which all have ended.
    private long next;
    private long done;
    private long confirmed;
    private long acknowledged;
    private long model;
    private final long[] before;
    private final long[] after;
    /// Messages of the peer: the next one, and how many were confirmed.
    private long expected;
    private long confirming;
    private boolean creditInFlight;
    private long quota;
    private long nextBurst = System.nanoTime();
    private boolean armed;
    private boolean probed;
    private boolean held;
    private int idle;
    private long looked;

    private volatile boolean revoked;
    private volatile boolean stopping;
    private volatile boolean quiescing;
    private volatile long total = -1;
    private volatile @Nullable String failure;
    private volatile long noticed;
    private final CountDownLatch quiet = new CountDownLatch(1);
    private final CountDownLatch complete = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);

    /// @param side 0 or 1; the peer has the other one
    /// @param rate requests of this side in a second
    Link(
            String name,
            long epoch,
            int side,
            long seed,
            double rate,
            ProtectionDomain domain,
            SharedInbox shared,
            Reporter reporter,
            Tally tally) {
        this.name = name;
        this.epoch = epoch;
        this.reporter = reporter;
        this.tally = tally;
        shape = Shape.of(seed);
        style = shape.styles().get(side);
        mine = new Plan(Content.mix(seed + side), shape);
        theirs = new Plan(Content.mix(seed + 1 - side), shape);
        random = new Random(seed + side);
        before = new long[shape.window()];
        after = new long[shape.window()];
        burstsPerNano = rate / 1e9;
        Context context = domain.context();
        channel = style.events() ? context.createCompletionChannel() : null;
        CompletionQueueOptions options = CompletionQueueOptions.ofCapacity(COMPLETIONS);
        completionQueue = context.createCompletionQueue(channel == null ? options : options.withChannel(channel));
        QueuePairOptions pair = QueuePairOptions.reliable(completionQueue)
                .withSizes(new QueueSizes(shape.sends(), shape.receives(), 2, 2, Shape.INLINE));
        queuePair = domain.createQueuePair(style.shared() ? pair.withSharedReceives(shared.queue()) : pair);
        window = memory(domain, style.ownWindow(), creditAt() + 64, AccessFlag.allRemote());
        buffers = memory(
                domain,
                style.ownBuffers(),
                shape.stride() * (shape.window() + shape.receives()),
                Set.of(AccessFlag.LOCAL_WRITE));
        Content.fill(window.segment(), constantAt(), shape.slot(), theirs.constantKey(), 0);
        window.segment().asSlice(wordAt(), 128).fill((byte) 0);
        inbox = style.shared()
                ? shared.inbox()
                : new Inbox(
                        new ReceiveLedger(shape.receives()),
                        buffers,
                        shape.stride() * shape.window(),
                        shape.stride(),
                        shape.slot(),
                        queuePair::post);
        batch = SendBatch.create(arena, shape.chain(), 2);
        creditBatch = SendBatch.create(arena, 1, 1, 8);
        completions = Completions.create(arena, 1 + random.nextInt(32));
        sends = new SendLedger(COMPLETIONS, this::sendEnded);
        thread = new Thread(this, "link " + name);
        thread.setDaemon(true);
    }

    private MemoryRegion memory(ProtectionDomain domain, boolean own, long bytes, Set<AccessFlag> access) {
        MemoryRegion region = own ? domain.register(arena.allocate(bytes, 64), access) : domain.allocate(bytes, access);
        Content.fill(region.segment(), 0, bytes, GUARD_KEY, 0);
        return region;
    }

    private long constantAt() {
        return shape.stride() * shape.window();
    }

    private long wordAt() {
        return constantAt() + shape.stride();
    }

    private long creditAt() {
        return wordAt() + 64;
    }

    private long slotAt(long number) {
        return number % shape.window() * shape.stride();
    }

    QueuePairInfo info() {
        return queuePair.info();
    }

    RemoteMemory window() {
        return window.remote();
    }

    long epoch() {
        return epoch;
    }

    /// Connects it and lets it run.
    void connect(QueuePairInfo peer, RemoteMemory peerWindow) {
        target = peerWindow;
        ConnectionOptions patient = ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 7);
        queuePair.initialize(patient);
        if (!style.shared()) {
            for (int place = 0; place < shape.receives(); place++) {
                inbox.post(place);
            }
        }
        queuePair.connect(peer, patient);
        thread.start();
    }

    @Override
    public void run() {
        try {
            while (!stopping && !isOver()) {
                boolean busy = poll() > 0;
                readCredit();
                if (failure == null) {
                    busy |= confirm();
                    busy |= issue();
                    announceQuiet();
                }
                if (busy) {
                    idle = 0;
                } else {
                    pause();
                }
            }
            if (failure != null) {
                afterTheEnd();
            }
        } catch (RuntimeException | AssertionError | InterruptedException e) {
            if (!stopping) {
                violation("stuck: " + e + " at " + e.getStackTrace()[0]);
            }
        }
    }

    /// Returns whether all work has ended after a failure.
    private boolean isOver() {
        if (failure == null) {
            lookAtState();
        }
        return failure != null
                && probe()
                && sends.isEmpty()
                && (style.shared() || inbox.ledger().outstanding() == 0);
    }

    /// An unsignaled request that succeeded has no completion: only the flush of a later one tells that it has
    /// ended. Returns whether that one was posted.
    private boolean probe() {
        if (!probed && queuePair.query().state() == QueuePairState.ERROR) {
            creditBatch.clear().send(PROBE).signaled();
            queuePair.post(creditBatch);
            sends.posted(PROBE, true);
            probed = true;
        }
        return probed;
    }

    /// A queue pair without work gets no completion when it fails.
    private void lookAtState() {
        long now = System.nanoTime();
        if (now - looked > STEP_NANOS) {
            looked = now;
            if (queuePair.query().state() == QueuePairState.ERROR) {
                failed("ERROR");
            }
            String lost = style.shared() ? inbox.ledger().lost() : null;
            if (lost != null) {
                violation(lost);
            }
        }
    }

    private void failed(String status) {
        if (failure == null) {
            noticed = System.nanoTime();
            failure = status;
        }
    }

    private void afterTheEnd() {
        if (style.shared()) {
            // Completions of shared receives cannot be counted in advance.
            long end = System.nanoTime() + STEP_NANOS;
            while (System.nanoTime() < end) {
                poll();
                LockSupport.parkNanos(STEP_NANOS / 10);
            }
        }
        Content.fill(buffers.segment(), 0, buffers.length(), UNTOUCHED_KEY, 0);
        ended.countDown();
        reporter.ended(name, epoch, failure + ", " + shape.styles() + ", " + this, noticed);
    }

    private void violation(String text) {
        reporter.violation(name, text + " [epoch " + epoch + ", " + queuePair + ", " + style + "]");
    }

    private void violationIf(@Nullable String text) {
        if (text != null) {
            violation(text);
        }
    }

    // Polling ----------------------------------------------------------------------------------------------------

    private int poll() {
        int sum = 0;
        int count;
        do {
            count = completionQueue.poll(completions);
            for (int i = 0; i < count; i++) {
                completed(i);
            }
            sum += count;
        } while (count > 0);
        return sum;
    }

    private void completed(int i) {
        long id = completions.workId(i);
        boolean success = completions.isSuccess(i);
        if (completions.queuePairNumber(i) != queuePair.number()) {
            violation("wrong: a completion of queue pair " + completions.queuePairNumber(i));
        }
        if (!success) {
            failed(completions.status(i) + describe(i));
        }
        if ((id & Inbox.MARK) == 0) {
            violationIf(sends.completed(id, success));
            return;
        }
        String wrong = inbox.completed(id, !style.shared());
        if (wrong != null && !success && !held && wrong.startsWith("wrong")) {
            // The peer was stopped, or got no processor, while it held this receive (decision 38).
            held = true;
        } else if (wrong != null) {
            violation(wrong + " with " + completions.status(i) + " after " + failure);
        }
        if (success) {
            received(i, inbox.place(id));
        }
        if (style.shared() || failure == null) {
            inbox.post(inbox.place(id));
        }
    }

    private String describe(int i) {
        long id = completions.workId(i);
        if ((id & Inbox.MARK) != 0) {
            return " of a receive";
        }
        String what =
                (id & (CREDIT | PROBE)) != 0 ? "a confirmation" : mine.kind(id) + " of " + mine.length(id) + " bytes";
        return " of " + what + ", vendor error " + completions.vendorError(i) + ", in flight for "
                + sends.age(id) / 1_000_000 + " ms";
    }

    private void received(int i, int place) {
        if (completions.hasImmediate(i) && completions.immediate(i) == CREDIT_IMMEDIATE) {
            return;
        }
        long number = expected;
        while (!theirs.kind(number).notifies()) {
            number++;
        }
        String wrong = difference(i, place, number);
        if (wrong != null) {
            number = explain(i, place, number, wrong);
        }
        for (long earlier = expected; earlier < number && !revoked; earlier++) {
            if (theirs.kind(earlier).writes()) {
                checkWindow(earlier);
            }
        }
        expected = number + 1;
        boolean counted = theirs.kind(number).writes();
        tally.message(counted ? 0 : theirs.length(number));
    }

    /// Compares a completion with message `number`.
    private @Nullable String difference(int i, int place, long number) {
        Kind kind = theirs.kind(number);
        int length = theirs.length(number);
        boolean write = kind == Kind.WRITE_WITH_IMMEDIATE;
        CompletionOpcode opcode = write ? CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE : CompletionOpcode.RECEIVE;
        if (completions.opcode(i) != opcode || completions.byteLength(i) != length) {
            return kind + " of " + length + " bytes arrived as " + completions.opcode(i) + " of "
                    + completions.byteLength(i);
        }
        boolean immediate = write || kind == Kind.SEND_WITH_IMMEDIATE;
        if (completions.hasImmediate(i) != immediate
                || (immediate && completions.immediate(i) != theirs.immediate(number))) {
            return kind + " has immediate value " + completions.immediate(i) + " instead of " + number;
        }
        if (write) {
            if (!revoked) {
                checkWindow(number);
            }
            return null;
        }
        if (!inbox.isGuarded(place)) {
            return "the bytes after the receive of " + kind + " have changed";
        }
        long at = Content.wrong(inbox.memory(), inbox.at(place), length, theirs.key(number), 0);
        return at < 0 ? null : kind + " of " + length + " bytes is wrong from byte " + at;
    }

    /// Finds out whether it is another message than the expected one. Returns its number.
    private long explain(int i, int place, long number, String wrong) {
        for (long other = Math.max(0, number - shape.window()); other < number + shape.window(); other++) {
            boolean telling = theirs.length(other) >= 8 || theirs.kind(other) == Kind.SEND_WITH_IMMEDIATE;
            if (other != number
                    && theirs.kind(other).notifies()
                    && theirs.kind(other) != Kind.WRITE_WITH_IMMEDIATE
                    && telling
                    && difference(i, place, other) == null) {
                violation((other < number ? "doubled: message " : "lost: before message ") + other + ", expected "
                        + number);
                return Math.max(number, other);
            }
        }
        violation("wrong: message " + number + ": " + wrong);
        return number;
    }

    private void checkWindow(long number) {
        try {
            int length = theirs.length(number);
            long at = Content.wrong(window.segment(), slotAt(number), length, theirs.key(number), 0);
            if (at >= 0 && !revoked) {
                violation("wrong: " + theirs.kind(number) + " " + number + " of " + length + " bytes, from byte " + at);
            }
            long guard = slotAt(number) + shape.slot();
            if (Content.wrong(window.segment(), guard, Shape.GUARD, GUARD_KEY, guard) >= 0 && !revoked) {
                violation("wrong: the bytes after slot " + number % shape.window() + " of the window have changed");
            }
            tally.bytes(length);
        } catch (IllegalStateException e) {
            if (!revoked) {
                throw e;
            }
        }
    }

    private void sendEnded(long id, boolean success) {
        if ((id & (CREDIT | PROBE)) != 0) {
            creditInFlight = false;
            return;
        }
        if (id != done) {
            violation("lost: request " + done + " has not ended, but " + id + " has");
        }
        done = id + 1;
        if (!success) {
            return;
        }
        Kind kind = mine.kind(id);
        tally.done(kind);
        if (kind.notifies()) {
            acknowledged = id + 1;
        }
        if (kind.isInline()) {
            return;
        }
        violationIf(kind.returns() ? wrongResult(id, kind) : changedSource(id, kind));
        long guard = slotAt(id) + shape.slot();
        if (Content.wrong(buffers.segment(), guard, Shape.GUARD, GUARD_KEY, guard) >= 0) {
            violation("wrong: the bytes after the memory of " + kind + " " + id + " have changed");
        }
    }

    private @Nullable String changedSource(long id, Kind kind) {
        long at = Content.wrong(buffers.segment(), slotAt(id), mine.length(id), mine.key(id), 0);
        return at < 0 ? null : "wrong: the source of " + kind + " " + id + " has changed at byte " + at;
    }

    private @Nullable String wrongResult(long id, Kind kind) {
        if (kind.isAtomic()) {
            long old = buffers.segment().get(JAVA_LONG, slotAt(id));
            long wanted = before[(int) (id % shape.window())];
            return old == wanted ? null : "wrong: " + kind + " " + id + " returned " + old + " instead of " + wanted;
        }
        long source = kind == Kind.READ_BACK ? mine.written(id) : -1;
        long key = source >= 0 ? mine.key(source) : mine.constantKey();
        long start = kind == Kind.READ ? mine.offset(id) : 0;
        tally.bytes(mine.length(id));
        long at = Content.wrong(buffers.segment(), slotAt(id), mine.length(id), key, start);
        return at < 0 ? null : "wrong: " + kind + " " + id + " returned a wrong byte " + at;
    }

    // Posting ----------------------------------------------------------------------------------------------------

    /// Reads how many messages the peer has confirmed. TCP may place the word in two parts, so it has a complement.
    private void readCredit() {
        if (revoked) {
            return;
        }
        try {
            long word = (long) LONG.getAcquire(window.segment(), creditAt());
            int count = (int) word;
            if (count != ~(int) (word >>> 32) || word == 0) {
                return;
            }
            if ((count < confirmed || count > next) && !revoked) {
                violation(
                        "wrong: the peer confirms " + count + " after " + confirmed + ", and " + next + " were posted");
            }
            confirmed = Math.max(count, confirmed);
        } catch (IllegalStateException e) {
            if (!revoked) {
                throw e;
            }
        }
    }

    private boolean confirm() {
        RemoteMemory to = target;
        if (creditInFlight || to == null || expected - confirming < shape.window() / 4) {
            return false;
        }
        scratch.set(JAVA_LONG, 0, (expected & 0xffffffffL) | ((long) ~(int) expected << 32));
        long id = CREDIT | expected;
        creditBatch.clear();
        if (shape.noticed()) {
            creditBatch.writeWithImmediate(id, to.slice(creditAt(), 8), CREDIT_IMMEDIATE);
        } else {
            creditBatch.write(id, to.slice(creditAt(), 8));
        }
        creditBatch.inline(scratch, 0, 8).signaled();
        if (queuePair.post(creditBatch) == 0) {
            return false;
        }
        sends.posted(id, true);
        creditInFlight = true;
        confirming = expected;
        return true;
    }

    private boolean issue() {
        long now = System.nanoTime();
        if (now >= nextBurst) {
            int size = 1 + random.nextInt(3 * shape.window());
            quota = Math.min(quota, shape.window()) + size;
            nextBurst = Math.max(nextBurst, now - TimeUnit.SECONDS.toNanos(1)) + (long) (size / burstsPerNano);
        }
        long limit = Math.min(confirmed, done) + shape.window();
        boolean finishing = quiescing;
        if (finishing) {
            // Up to the signaled SEND that ends a group.
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
            sends.posted(number, mine.isSignaled(number));
            if (mine.kind(number).isInline()) {
                // Its memory may be reused at once.
                buffers.segment().asSlice(slotAt(number), mine.length(number)).fill((byte) 0x77);
            }
            if (mine.kind(number).isAtomic()) {
                model = after[(int) (number % shape.window())];
            }
        }
        next += posted;
        quota -= posted;
        return posted > 0;
    }

    /// Adds a request; returns the value of the peer's word after it.
    private long append(long number, long value) {
        RemoteMemory to = Objects.requireNonNull(target);
        Kind kind = mine.kind(number);
        int length = mine.length(number);
        long result = value;
        if (!kind.returns()) {
            Content.fill(buffers.segment(), slotAt(number), length, mine.key(number), 0);
        }
        switch (kind) {
            case SEND, SEND_INLINE -> batch.send(number);
            case SEND_WITH_IMMEDIATE -> batch.sendWithImmediate(number, mine.immediate(number));
            case WRITE, WRITE_INLINE -> batch.write(number, to.slice(slotAt(number), length));
            case WRITE_WITH_IMMEDIATE ->
                batch.writeWithImmediate(number, to.slice(slotAt(number), length), mine.immediate(number));
            case READ -> batch.read(number, to.slice(constantAt() + mine.offset(number), length));
            case READ_BACK -> {
                long source = mine.written(number);
                batch.read(number, to.slice(source < 0 ? constantAt() : slotAt(source), length));
            }
            case FETCH_AND_ADD -> {
                batch.fetchAndAdd(number, to.slice(wordAt(), 8), mine.operand(number));
                result = value + mine.operand(number);
            }
            case COMPARE_AND_SWAP -> {
                boolean right = mine.isExpectedRight(number);
                batch.compareAndSwap(number, to.slice(wordAt(), 8), right ? value : ~value, mine.operand(number));
                result = right ? mine.operand(number) : value;
            }
        }
        before[(int) (number % shape.window())] = value;
        after[(int) (number % shape.window())] = result;
        long first = length > 8 && (mine.key(number) & 1) == 0 ? length / 2 : length;
        if (length > 0) {
            batch.with(buffers, slotAt(number), first);
        }
        if (first < length) {
            batch.with(buffers, slotAt(number) + first, length - first);
        }
        if (kind.isInline()) {
            batch.inline();
        }
        if (mine.isFenced(number)) {
            batch.fenced();
        }
        if (mine.isSignaled(number)) {
            batch.signaled();
        }
        return result;
    }

    private void announceQuiet() {
        if (quiescing && next % Plan.GROUP == 0 && done == next && !creditInFlight) {
            quiet.countDown();
        }
        if (total >= 0 && expected >= total) {
            complete.countDown();
        }
    }

    // Waiting ----------------------------------------------------------------------------------------------------

    private void pause() throws InterruptedException {
        CompletionChannel events = channel;
        long nanos = Math.clamp(quota > 0 ? STEP_NANOS : nextBurst - System.nanoTime(), 20_000, STEP_NANOS);
        if (events == null) {
            // Another process makes the completion: nothing wakes a poller.
            idle = Math.min(idle + 1, 40);
            LockSupport.parkNanos(Math.min(nanos, 50_000L * idle));
            return;
        }
        if (!armed) {
            completionQueue.arm(false);
            armed = true;
            return;
        }
        if (wait(events, Duration.ofNanos(nanos))) {
            armed = false;
        } else if (poll() > 0) {
            armed = false;
            awaitFollowing(events);
        }
    }

    /// Waits for the event of a completion that was seen before it.
    private void awaitFollowing(CompletionChannel events) throws InterruptedException {
        long start = System.nanoTime();
        boolean follows = false;
        while (!follows && System.nanoTime() - start < NEVER_NANOS && !stopping) {
            follows = wait(events, EVENT_FOLLOWS);
        }
        long millis = (System.nanoTime() - start) / 1_000_000;
        if (!stopping && (!follows || millis > EVENT_FOLLOWS.toMillis())) {
            violation("missed: a completion came without an event, "
                    + (follows ? "which followed after " : "not even after ") + millis + " ms");
        }
    }

    private static boolean wait(CompletionChannel events, Duration most) throws InterruptedException {
        CompletionQueue queue = events.awaitEvent(most);
        if (queue == null) {
            return false;
        }
        queue.acknowledge(1);
        return true;
    }

    private void wake() {
        CompletionChannel events = channel;
        if (events != null) {
            events.wakeUp();
        }
        LockSupport.unpark(thread);
    }

    // For other threads ------------------------------------------------------------------------------------------

    /// Ends what it has begun. Returns how many requests it has posted.
    long quiesce(long millis) throws InterruptedException, TimeoutException {
        quiescing = true;
        wake();
        await(quiet, millis, "end what it has posted: " + this);
        return next;
    }

    /// The value that the peer's word must have.
    long word() {
        return model;
    }

    /// Waits until all messages of the peer are here.
    void finish(long count, long word, long millis) throws InterruptedException, TimeoutException {
        total = count;
        wake();
        await(complete, millis, "receive message " + count + ": " + this);
        long real = (long) LONG.getAcquire(window.segment(), wordAt());
        if (real != word || expected != count) {
            violation("wrong: the word for atomics is " + real + " instead of " + word + ", messages " + expected
                    + " of " + count);
        }
        if (Content.wrong(window.segment(), constantAt(), shape.slot(), theirs.constantKey(), 0) >= 0) {
            violation("wrong: memory that is only read has changed");
        }
    }

    private void await(CountDownLatch latch, long millis, String what) throws InterruptedException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!latch.await(20, TimeUnit.MILLISECONDS)) {
            if (failure != null) {
                throw new IllegalStateException("the link has failed: " + failure);
            }
            if (System.nanoTime() > end) {
                throw new TimeoutException("cannot " + what);
            }
        }
    }

    /// Moves the queue pair to ERROR.
    void drop() {
        failed("DROPPED");
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        wake();
    }

    /// Closes the region that the peer writes into.
    void revoke() {
        revoked = true;
        window.close();
        watchOwnWindow();
    }

    private void watchOwnWindow() {
        if (style.ownWindow()) {
            Content.fill(window.segment(), 0, window.length(), UNTOUCHED_KEY, 0);
        }
    }

    /// Waits until it notices the death of its peer. Returns when it did; zero if it has never reached the peer, so
    /// that there was nothing to notice.
    long awaitFailure(long millis) throws InterruptedException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        long patience = System.nanoTime() + NEVER_REACHED_NANOS;
        while (failure == null) {
            ended.await(1, TimeUnit.MILLISECONDS);
            boolean reached = expected > 0 || done > 0;
            if (failure == null && !reached && System.nanoTime() > patience) {
                drop();
                return 0;
            }
            if (System.nanoTime() > end) {
                throw new TimeoutException("the death of the peer is not noticed: " + this);
            }
        }
        return noticed;
    }

    /// Waits until all work has ended.
    void awaitEnd(long millis) throws InterruptedException, TimeoutException {
        if (!ended.await(millis, TimeUnit.MILLISECONDS)) {
            violation("lost: work that never ends: " + this);
            throw new TimeoutException("the work of " + this + " has not ended");
        }
    }

    /// Closes everything, and checks that memory which is no longer used has not changed.
    ///
    /// @param watch whether to look again a little later
    void close(boolean watch) throws InterruptedException {
        stopping = true;
        wake();
        if (thread.isAlive()) {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        }
        if (thread.isAlive()) {
            violation("stuck: the thread of the link does not end");
        }
        int late = poll();
        if (late > 0 && failure != null && !style.shared()) {
            violation("doubled: a completion after the end: " + Long.toHexString(completions.workId(0)));
        }
        boolean failed = ended.getCount() == 0;
        boolean windowFirst = random.nextBoolean();
        if (windowFirst && !revoked) {
            revoke();
        }
        queuePair.close();
        completionQueue.close();
        if (channel != null) {
            channel.close();
        }
        if (!revoked) {
            revoke();
        }
        if (watch) {
            LockSupport.parkNanos(STEP_NANOS);
        }
        checkUntouched(failed, buffers, "buffers");
        buffers.close();
        checkUntouched(failed && style.ownBuffers(), buffers, "buffers of a closed region");
        checkUntouched(style.ownWindow(), window, "memory of a closed region");
        arena.close();
    }

    private void checkUntouched(boolean check, MemoryRegion region, String what) {
        long at = check ? Content.wrong(region.segment(), 0, region.length(), UNTOUCHED_KEY, 0) : -1;
        if (at >= 0) {
            violation("wrong: " + what + " changed after the end, at byte " + at);
        }
    }

    /// Requests that the peer's device has acknowledged: messages before this number must have arrived.
    long acknowledged() {
        return acknowledged;
    }

    long posted() {
        return next;
    }

    long expected() {
        return expected;
    }

    @Override
    public String toString() {
        return "link " + name + ", epoch " + epoch + ": posted " + next + ", ended " + done + ", in flight "
                + sends.inFlight() + ", confirmed " + confirmed + ", received " + expected + ", receives "
                + inbox.ledger().outstanding() + ", failure " + failure + ", " + queuePair.state();
    }
}
