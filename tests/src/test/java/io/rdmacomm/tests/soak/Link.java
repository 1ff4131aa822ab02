package io.rdmacomm.tests.soak;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
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
import java.lang.foreign.Arena;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// One side of one life of a link: makes a queue pair with its memory, lets a thread of its own post and poll, and
/// ends the life when it fails or when another thread asks for it.
final class Link implements Runnable {
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long NEVER_REACHED_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long NEVER_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration EVENT_FOLLOWS = Duration.ofSeconds(5);

    private final String name;
    private final long epoch;
    private final Shape shape;
    private final Shape.Style style;
    private final Reporter reporter;
    private final Random random;

    private final Arena arena = Arena.ofShared();
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue completionQueue;
    private final QueuePair queuePair;
    private final MemoryRegion window;
    private final MemoryRegion buffers;
    private final Completions completions;
    private final Sender sender;
    private final Receiver receiver;
    private final Thread thread;

    private boolean armed;
    private int idle;
    private long looked;

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
        shape = Shape.of(seed);
        style = shape.styles().get(side);
        Plan mine = new Plan(Content.mix(seed + side), shape);
        Plan theirs = new Plan(Content.mix(seed + 1 - side), shape);
        random = new Random(seed + side);
        Context context = domain.context();
        channel = style.events() ? context.createCompletionChannel() : null;
        CompletionQueueOptions options = CompletionQueueOptions.ofCapacity(Shape.COMPLETIONS);
        completionQueue = context.createCompletionQueue(channel == null ? options : options.withChannel(channel));
        QueuePairOptions pair = QueuePairOptions.reliable(completionQueue)
                .withSizes(new QueueSizes(shape.sends(), shape.receives(), 2, 2, Shape.INLINE));
        queuePair = domain.createQueuePair(style.shared() ? pair.withSharedReceives(shared.queue()) : pair);
        window = memory(domain, style.ownWindow(), shape.confirmationAt() + 64, AccessFlag.allRemote());
        buffers = memory(
                domain,
                style.ownBuffers(),
                shape.stride() * (shape.window() + shape.receives()),
                Set.of(AccessFlag.LOCAL_WRITE));
        Inbox inbox = style.shared()
                ? shared.inbox()
                : new Inbox(
                        new ReceiveLedger(shape.receives()),
                        buffers,
                        shape.stride() * shape.window(),
                        shape.stride(),
                        shape.slot(),
                        queuePair::post);
        completions = Completions.create(arena, 1 + random.nextInt(32));
        sender = new Sender(shape, mine, random, rate, queuePair, buffers, arena, tally, this::violation);
        receiver = new Receiver(shape, style, theirs, window, inbox, completions, tally, this::violation);
        thread = new Thread(this, "link " + name);
        thread.setDaemon(true);
    }

    private MemoryRegion memory(ProtectionDomain domain, boolean own, long bytes, Set<AccessFlag> access) {
        MemoryRegion region = own ? domain.register(arena.allocate(bytes, 64), access) : domain.allocate(bytes, access);
        Content.fill(region.segment(), 0, bytes, Content.GUARD_KEY, 0);
        return region;
    }

    QueuePairInfo info() {
        return queuePair.info();
    }

    RemoteMemory window() {
        return window.remote();
    }

    /// Connects it and lets it run.
    void connect(QueuePairInfo peer, RemoteMemory peerWindow) {
        sender.connect(peerWindow);
        ConnectionOptions patient = ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 7);
        queuePair.initialize(patient);
        receiver.start();
        queuePair.connect(peer, patient);
        thread.start();
    }

    @Override
    public void run() {
        try {
            while (!stopping && !isOver()) {
                boolean busy = poll() > 0;
                receiver.confirmation().ifPresent(sender::confirmed);
                if (failure == null) {
                    busy |= sender.confirm(receiver.expected());
                    busy |= sender.issue(quiescing);
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
        return failure != null && sender.probe() && receiver.isOver();
    }

    /// A queue pair without work gets no completion when it fails.
    private void lookAtState() {
        long now = System.nanoTime();
        if (now - looked > STEP_NANOS) {
            looked = now;
            if (queuePair.query().state() == QueuePairState.ERROR) {
                failed("ERROR");
            }
            receiver.checkLost();
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
        Content.fill(buffers.segment(), 0, buffers.length(), Content.UNTOUCHED_KEY, 0);
        ended.countDown();
        reporter.ended(name, epoch, failure + ", " + shape.styles() + ", " + this, noticed);
    }

    private void violation(String text) {
        reporter.violation(name, text + " [epoch " + epoch + ", " + queuePair + ", " + style + "]");
    }

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
        boolean receive = (id & Inbox.MARK) != 0;
        if (!success) {
            String work = receive ? "a receive" : sender.describe(id, completions.vendorError(i));
            failed(completions.status(i) + " of " + work);
        }
        if (receive) {
            receiver.completed(i, failure);
        } else {
            sender.completed(id, success);
        }
    }

    private void announceQuiet() {
        if (quiescing && sender.isQuiet()) {
            quiet.countDown();
        }
        if (total >= 0 && receiver.expected() >= total) {
            complete.countDown();
        }
    }

    // Waiting ----------------------------------------------------------------------------------------------------

    private void pause() throws InterruptedException {
        CompletionChannel events = channel;
        long nanos = Math.clamp(sender.untilBurst(), 20_000, STEP_NANOS);
        if (events == null) {
            // Another process makes the completion: nothing wakes a poller.
            idle = Math.min(idle + 1, 40);
            LockSupport.parkNanos(Math.min(nanos, 50_000L * idle));
            return;
        }
        if (!armed) {
            completionQueue.arm();
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
        return sender.posted();
    }

    /// The value that the peer's word must have.
    long word() {
        return sender.word();
    }

    /// Waits until all messages of the peer are here.
    void finish(long count, long word, long millis) throws InterruptedException, TimeoutException {
        total = count;
        wake();
        await(complete, millis, "receive message " + count + ": " + this);
        receiver.checkAll(count, word);
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
        receiver.revoke();
    }

    /// Waits until it notices the death of its peer. Returns when it did; zero if it has never reached the peer, so
    /// that there was nothing to notice.
    long awaitFailure(long millis) throws InterruptedException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        long timeout = System.nanoTime() + NEVER_REACHED_NANOS;
        while (failure == null) {
            ended.await(1, TimeUnit.MILLISECONDS);
            boolean reached = receiver.expected() > 0 || sender.done() > 0;
            if (failure == null && !reached && System.nanoTime() > timeout) {
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
        if (windowFirst) {
            revoke();
        }
        queuePair.close();
        completionQueue.close();
        if (channel != null) {
            channel.close();
        }
        revoke();
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
        long at = check ? Content.wrong(region.segment(), 0, region.length(), Content.UNTOUCHED_KEY, 0) : -1;
        if (at >= 0) {
            violation("wrong: " + what + " changed after the end, at byte " + at);
        }
    }

    /// Requests that the peer's device has acknowledged: messages before this number must have arrived.
    long acknowledged() {
        return sender.acknowledged();
    }

    long posted() {
        return sender.posted();
    }

    long expected() {
        return receiver.expected();
    }

    @Override
    public String toString() {
        return "link " + name + ", epoch " + epoch + ": " + sender + ", " + receiver + ", failure " + failure + ", "
                + queuePair.state();
    }
}
