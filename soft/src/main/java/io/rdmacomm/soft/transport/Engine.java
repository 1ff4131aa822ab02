package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The one thread of a context. It sleeps until one of its channels is ready, or until the time that [Clock#onTime]
/// asked for. The threads that post and poll do all fast work instead.
///
/// A thread of the program that sleeps until data arrives can do the work of the engine meanwhile ([#lead]):
/// incoming data then wakes one thread, and not the engine first. One thread at a time has the seat. The engine's
/// own thread takes it back only 2 ms after the last of them has left, so that it need not be woken between two of
/// their waits.
public final class Engine implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(Engine.class);
    private static final long JOIN_MILLIS = 5_000;
    /// The engine does not watch its channels during waits shorter than this.
    public static final long EXACT_NANOS = 1_000_000;
    private static final long DEAF_NANOS = 100_000;
    private static final long SELDOM_NANOS = 50_000;
    private static final long LED_NANOS = 2_000_000;
    /// After so long a wait, a thread that leads is no longer expected to leave soon.
    private static final long BUSY_NANOS = 20_000_000;

    /// The state of the engine's own thread while others have the seat.
    private enum Rest {
        /// It has the seat, or is about to take it.
        NONE,
        /// It sleeps for a moment, then takes the seat if no thread leads.
        NAP,
        /// It sleeps until the thread that leads wakes it.
        UNTIL_WOKEN
    }

    /// Called when time has passed, always on the engine's thread.
    public interface Clock {
        /// Time has passed, or [Engine#wakeup()] was called.
        ///
        /// @return nanoseconds until the next call is due, [Long#MAX_VALUE] for never; with 0, everything else
        ///         waits up to 50 us
        long onTime();
    }

    /// Handles a channel that is ready; the attachment of its key. Always called on the engine's thread.
    public interface Ready {
        /// The channel of `key` is ready.
        void ready(SelectionKey key) throws IOException;
    }

    private final Clock clock;
    private final Runnable onFailure;
    private final Selector selector;
    private final Consumer<SelectionKey> handler = this::handle;
    private final ServiceThread thread;
    private final ReentrantLock seat = new ReentrantLock();
    private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private long lastAsked = System.nanoTime();
    /// The next waiting time of the thread with the seat.
    private long wait = Long.MAX_VALUE;
    /// When the clock is due.
    private volatile long due = System.nanoTime() + Long.MAX_VALUE / 2;
    private volatile long lastLed = System.nanoTime() - LED_NANOS;
    private volatile long leadBegan = System.nanoTime();
    private volatile Rest rest = Rest.NONE;
    /// When the own thread's nap ends by itself.
    private volatile long napEnd;
    /// Whether [#wakeup()] was called since the last call of the clock.
    private volatile boolean called;
    private volatile boolean servedOthers;
    private volatile boolean stopping;

    /// An engine that does not run yet.
    ///
    /// @param name of the thread
    /// @param onFailure called once by the thread if it ends although the engine was not closed
    /// @throws IOException if the system has no selector left
    public Engine(String name, Clock clock, Runnable onFailure) throws IOException {
        this.clock = clock;
        this.onFailure = onFailure;
        this.selector = SystemSockets.openSelector();
        this.thread = new ServiceThread(name, LOGGER, this::serve, this::ended);
    }

    /// Begins to work.
    public void start() {
        var _ = thread.start();
    }

    /// Registers a channel that is not blocking; any thread.
    ///
    /// @param operations of [SelectionKey]
    /// @throws ClosedChannelException if the channel is closed
    public SelectionKey register(SelectableChannel channel, int operations, Ready ready) throws ClosedChannelException {
        SelectionKey key = channel.register(selector, operations, ready);
        selector.wakeup();
        return key;
    }

    /// Runs `task` on the engine's thread, soon.
    public void execute(Runnable task) {
        tasks.add(task);
        wakeup();
    }

    /// Makes the engine call [Clock#onTime] soon.
    public void wakeup() {
        called = true;
        selector.wakeup();
        if (rest != Rest.NONE && leader.get() == null) {
            thread.unpark();
        }
    }

    /// Makes [Clock#onTime] run before the next wait: on the thread that is about to lead, or else within 2 ms.
    public void callBeforeNextWait() {
        called = true;
        if (rest == Rest.NONE || leader.get() != null) {
            selector.wakeup();
        }
    }

    private boolean serve() throws IOException {
        awaitSeat();
        try {
            if (stopping) {
                return false;
            }
            turn(Long.MAX_VALUE);
            return true;
        } catch (ClosedSelectorException e) {
            if (!stopping) {
                LOGGER.log(System.Logger.Level.ERROR, "the engine has lost its selector and ends", e);
            }
            return false;
        } finally {
            seat.unlock();
        }
    }

    /// Waits and works once; the thread that has the seat.
    ///
    /// @param most the longest wait
    private void turn(long most) throws IOException {
        long now = called ? 0 : Math.min(wait, most);
        // Set first, so that it holds after a failure, too: what has failed may be due.
        wait = 0;
        select(now);
        called = false;
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        wait = clock.onTime();
        due = System.nanoTime() + Math.min(wait, Long.MAX_VALUE / 2);
    }

    /// Takes the seat; the own thread.
    private void awaitSeat() {
        while (!stopping && (leader.get() != null || nap() > 0)) {
            // A leading thread sees `rest` when it leaves; a caller of `wakeup` sees it now.
            boolean quiet = isLedQuietly();
            napEnd = System.nanoTime() + Long.MAX_VALUE / 2;
            rest = quiet ? Rest.UNTIL_WOKEN : Rest.NAP;
            long nanos = leader.get() != null ? LED_NANOS : nap();
            napEnd = System.nanoTime() + nanos;
            if (quiet && leader.get() != null && !stopping) {
                LockSupport.park(this);
            } else if (nanos > 0 && !stopping) {
                LockSupport.parkNanos(this, nanos);
            }
            rest = Rest.NONE;
        }
        seat.lock();
    }

    /// Whether a thread leads and has waited for long. One that leaves often does not have to wake the own thread
    /// each time, just before its own work: the own thread then wakes up by itself.
    private boolean isLedQuietly() {
        return leader.get() != null && System.nanoTime() - leadBegan > BUSY_NANOS;
    }

    /// How long the own thread can nap, as a thread has just led and is likely to come back.
    private long nap() {
        if (called || !tasks.isEmpty()) {
            return 0;
        }
        long now = System.nanoTime();
        return Math.min(lastLed + LED_NANOS - now, due - now);
    }

    /// Does the work of the engine once on the calling thread, which waits for data.
    ///
    /// @param nanos the longest wait, at least [#EXACT_NANOS]
    /// @param ended whether there is nothing left to wait for: called once the thread has the seat, because an
    ///         earlier call of [#wakeup()] may have woken another thread
    /// @return whether it did; false if another thread does, or the engine is closed
    public boolean lead(long nanos, BooleanSupplier ended) {
        if (stopping || !leader.compareAndSet(null, Thread.currentThread())) {
            return false;
        }
        boolean led = false;
        leadBegan = System.nanoTime();
        if (!seat.tryLock()) {
            selector.wakeup();
            seat.lock();
        }
        try {
            servedOthers = false;
            if (!stopping && !ended.getAsBoolean()) {
                turn(nanos);
            }
            led = true;
        } catch (ClosedSelectorException e) {
            // The engine is closed, or its own thread reports this.
        } catch (IOException | RuntimeException | Error e) {
            report(e);
        } finally {
            lastLed = System.nanoTime();
            leader.set(null);
            seat.unlock();
            wakeOwnThread();
        }
        return led;
    }

    /// The seat is free: wakes the own thread if it must take the seat, or if work is due before its nap ends.
    private void wakeOwnThread() {
        Rest now = rest;
        boolean urgent = called || !tasks.isEmpty() || due - napEnd < 0;
        if (now == Rest.UNTIL_WOKEN || (now == Rest.NAP && urgent)) {
            thread.unpark();
        }
    }

    /// Whether the last turn of [#lead] brought data for another waiting thread. That thread should lead.
    public boolean hasServedOthers() {
        return servedOthers;
    }

    /// The thread with the seat serves another thread that waits.
    public void servesOther() {
        servedOthers = true;
    }

    private void ended() {
        if (!stopping) {
            onFailure.run();
        }
    }

    /// Waits, and handles ready channels. Avoids the set of keys, whose iterator would be allocated each time.
    private void select(long waitNanos) throws IOException {
        if (waitNanos == 0) {
            selectSeldom();
        } else if (waitNanos == Long.MAX_VALUE) {
            selector.select(handler);
        } else if (waitNanos < EXACT_NANOS) {
            int ready = selector.selectNow(handler);
            if (ready == 0 && tasks.isEmpty()) {
                // At most this long: only a wake-up of the selector would end a select early.
                LockSupport.parkNanos(Math.min(waitNanos, DEAF_NANOS));
            }
        } else {
            // Rounded up, or the thread would wake up just before the time.
            selector.select(handler, TimeUnit.NANOSECONDS.toMillis(waitNanos + EXACT_NANOS - 1));
        }
    }

    /// A select costs as much as a read from a socket, so it is not done in each pass over busy channels.
    private void selectSeldom() throws IOException {
        long now = System.nanoTime();
        if (now - lastAsked >= SELDOM_NANOS) {
            lastAsked = now;
            selector.selectNow(handler);
        }
    }

    private void handle(SelectionKey key) {
        try {
            if (key.isValid() && key.attachment() instanceof Ready ready) {
                ready.ready(key);
            }
        } catch (CancelledKeyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "another thread has closed the channel meanwhile", e);
        } catch (IOException | RuntimeException | Error e) {
            report(e);
        }
    }

    /// Reports a failure that ends one connection, and must neither end the engine nor stop its other work. Never
    /// throws. Called by the engine.
    public void report(Throwable e) {
        thread.report(e);
    }

    /// Whether the calling thread does the work of the engine.
    public boolean isCurrentThread() {
        return thread.isCurrent() || Thread.currentThread().equals(leader.get());
    }

    /// Waits until a thread that leads has left.
    private void awaitLeader() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MILLIS);
        while (leader.get() != null && !isCurrentThread() && System.nanoTime() - end < 0) {
            selector.wakeup();
            LockSupport.parkNanos(DEAF_NANOS);
        }
    }

    private static void close(Channel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a channel", e);
        }
    }

    /// Ends the thread and closes all channels.
    @Override
    public void close() throws IOException {
        stopping = true;
        selector.wakeup();
        thread.unpark();
        var _ = thread.join(JOIN_MILLIS);
        awaitLeader();
        if (selector.isOpen()) {
            try (selector) {
                for (SelectionKey key : selector.keys()) {
                    if (key.isValid()) {
                        close(key.channel());
                    }
                }
            }
        }
    }
}
