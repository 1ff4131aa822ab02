package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The links of one completion queue, for the thread that polls it. It reads the few that were busy lately directly,
/// which costs least. Every few polls a selector tells which of the others are ready, so the cost of polling does not
/// grow with their number.
public final class PolledLinks implements AutoCloseable {
    private static final int HOT = 4;
    private static final int PATIENCE = 2_000;
    private static final int SELECT_EVERY = 8;
    // With all links hot, the selector only has closed links to remove.
    private static final int SELECT_SELDOM = 1024;

    private final Selector selector;
    private final CompletionRing completions;
    private final AtomicReference<@Nullable Wish> wishes = new AtomicReference<>();
    private final @Nullable LinkDriver[] hot = new @Nullable LinkDriver[HOT];
    private final int[] misses = new int[HOT];
    private final Consumer<SelectionKey> onReady = this::ready;
    private final Consumer<SelectionKey> onAwaited = this::awaited;
    private final AtomicInteger watched = new AtomicInteger();
    private @Nullable Wish taken;
    private int hotCount;
    private int turn;
    private final AtomicBoolean selecting = new AtomicBoolean();
    private volatile boolean waiting;
    private volatile long lastPoll = System.nanoTime() - EngineLinks.TICK_NANOS;

    /// Asks the polling thread to drive a link. A link keeps one for each completion queue, so that asking again
    /// and again allocates nothing.
    static final class Wish {
        private final LinkDriver link;
        private final AtomicBoolean listed = new AtomicBoolean();
        private @Nullable Wish next;

        Wish(LinkDriver link) {
            this.link = link;
        }
    }

    /// No links yet.
    ///
    /// @param completions the ring of the completion queue
    public PolledLinks(CompletionRing completions) {
        this.completions = completions;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Adds a link; thread-safe.
    SelectionKey add(LinkDriver link) throws IOException {
        SelectionKey key = link.channel().register(selector, SelectionKey.OP_READ, link);
        watched.incrementAndGet();
        return key;
    }

    /// Removes a link that is closed; thread-safe.
    void remove(SelectionKey key) {
        watched.decrementAndGet();
        key.cancel();
        if (!selecting.compareAndSet(false, true)) {
            // Somebody polls, perhaps this very thread: the key is gone the next time.
            if (waiting) {
                selector.wakeup();
            }
            return;
        }
        try {
            // A channel is not really closed before its keys are gone.
            selector.selectNow(PolledLinks::leave);
        } catch (IOException e) {
            SafeLogger.of(PolledLinks.class).log(System.Logger.Level.DEBUG, "a link is forgotten later", e);
        } finally {
            selecting.set(false);
        }
    }

    private static void leave(SelectionKey key) {
        // Whatever is ready is so the next time, too.
    }

    /// Has a link driven because it has something to send; thread-safe.
    void want(Wish wish) {
        if (wish.listed.compareAndSet(false, true)) {
            do {
                wish.next = wishes.get();
            } while (!wishes.compareAndSet(wish.next, wish));
        }
    }

    /// The next link that is to be driven; the thread that polls.
    private @Nullable LinkDriver nextWanted() {
        Wish wish = taken;
        if (wish == null) {
            wish = wishes.get() == null ? null : wishes.getAndSet(null);
            if (wish == null) {
                return null;
            }
        }
        taken = wish.next;
        wish.next = null;
        // From here on it may be listed again.
        wish.listed.set(false);
        return wish.link;
    }

    /// The time of the last poll, as of [System#nanoTime()].
    long lastPoll() {
        return lastPoll;
    }

    /// Whether a thread has polled it recently.
    boolean isPolled() {
        return System.nanoTime() - lastPoll < EngineLinks.TICK_NANOS;
    }

    /// Whether somebody sleeps until the next completion.
    boolean isArmed() {
        return completions.isArmed();
    }

    /// Whether a thread sleeps in [#await].
    boolean isWaiting() {
        return waiting;
    }

    /// Whether the thread that polls sees itself what arrives: it does not sleep, or it sleeps in [#await].
    boolean isAttended() {
        return waiting || !completions.isArmed();
    }

    /// Sleeps until something arrives over one of the links, and drives that link. So what arrives wakes one thread;
    /// the engine would have to wake the thread that waits. To be called when the armed queue was polled once more.
    /// Returns at once while another thread selects.
    ///
    /// @param millis the longest time, more than 0
    public void await(long millis) {
        if (!selecting.compareAndSet(false, true)) {
            return;
        }
        lastPoll = System.nanoTime();
        waiting = true;
        try {
            selector.select(onAwaited, millis);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClosedSelectorException e) {
            // The completion queue is being closed, which the next use of it finds out.
        } finally {
            waiting = false;
            selecting.set(false);
            lastPoll = System.nanoTime();
        }
    }

    /// Ends [#await], or the next one; any thread.
    public void wakeUp() {
        selector.wakeup();
    }

    /// The next poll drives the link once more, to acknowledge what the program does not answer.
    private void awaited(SelectionKey key) {
        waiting = false;
        if (key.attachment() instanceof LinkDriver link) {
            link.tryDrive();
            want(link.wish(this));
        }
    }

    /// Drives the links that are ready. Called by the polling thread when it has found no completion.
    public void drive() {
        lastPoll = System.nanoTime();
        // Bounded: a link that makes room for another one may be wanted again at once.
        LinkDriver wanted = nextWanted();
        for (int i = 1; wanted != null; i++) {
            heat(wanted);
            wanted = i < HOT ? nextWanted() : null;
        }
        for (int i = hotCount - 1; i >= 0; i--) {
            driveHot(i);
        }
        int every = hotCount < watched.get() ? SELECT_EVERY : SELECT_SELDOM;
        if (hotCount == 0 || ++turn >= every) {
            turn = 0;
            select();
        }
        if (hotCount > 0 && completions.isArmed()) {
            coolAll();
        }
    }

    /// The polling thread is about to sleep, and what arrives must wake it.
    private void coolAll() {
        for (int i = hotCount - 1; i >= 0; i--) {
            cool(i);
        }
    }

    private void driveHot(int index) {
        LinkDriver link = hot[index];
        if (link == null || link.isClosed()) {
            cool(index);
        } else if (link.tryDrive()) {
            misses[index] = 0;
        } else if (++misses[index] > PATIENCE && link.isQuiet()) {
            cool(index);
        }
    }

    private void select() {
        if (!selecting.compareAndSet(false, true)) {
            // Another thread waits for what arrives.
            return;
        }
        try {
            selector.selectNow(onReady);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            selecting.set(false);
        }
    }

    private void ready(SelectionKey key) {
        if (key.attachment() instanceof LinkDriver link) {
            link.tryDrive();
            heat(link);
        }
    }

    /// Makes a link one of those that are read directly; the one that was idle longest makes room.
    private void heat(LinkDriver link) {
        if (link.isClosed() || link.isHot(this)) {
            return;
        }
        if (hotCount == HOT) {
            int idlest = 0;
            for (int i = 1; i < HOT; i++) {
                idlest = misses[i] > misses[idlest] ? i : idlest;
            }
            cool(idlest);
        }
        hot[hotCount] = link;
        misses[hotCount] = 0;
        hotCount++;
        link.hot(this, true);
    }

    private void cool(int index) {
        LinkDriver link = hot[index];
        hotCount--;
        hot[index] = hot[hotCount];
        misses[index] = misses[hotCount];
        hot[hotCount] = null;
        if (link != null) {
            link.hot(this, false);
        }
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
