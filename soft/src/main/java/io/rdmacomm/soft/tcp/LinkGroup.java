package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The links of all completion queues in one wait group: a thread that waits for the group sleeps at their sockets, and
/// reads those that become ready. So a message costs one wake-up, of the thread that it is for. The first link opens
/// the selector.
///
/// While a thread waits here, or has done so a moment ago, nobody else reads these links: polls of their queues find
/// only completions ([LinkPoller#drive]), and the engine leaves the links alone ([LinkDriver]).
public final class LinkGroup implements Arrivals.GroupPlace {
    private static final SafeLogger LOGGER = SafeLogger.of(LinkGroup.class);

    private final AtomicBoolean selecting = new AtomicBoolean();
    private final Consumer<SelectionKey> onReady = this::ready;
    /// Links that have received something since the last wait or look. With `selecting`.
    private final List<PolledLink> unanswered = new ArrayList<>();
    private volatile @Nullable Selector selector;
    private volatile boolean waiting;
    private volatile boolean closed;
    /// Whether a key was cancelled. A channel is not fully closed before a select has removed its keys.
    private volatile boolean cancelled;
    private volatile long lastUse = System.nanoTime() - EngineLinks.TICK_NANOS;
    /// Whether the next look can be left out. With `selecting`.
    private boolean fresh;

    /// A group without links.
    public LinkGroup() {}

    /// Watches a link; any thread.
    ///
    /// @throws IOException if the system has no selector left, or the link is closed
    SelectionKey watch(PolledLink link) throws IOException {
        Selector opened = open();
        SelectionKey key = link.driver().channel().register(opened, SelectionKey.OP_READ, link);
        wakeUp();
        return key;
    }

    private synchronized Selector open() throws IOException {
        Selector known = selector;
        if (closed) {
            throw new IOException("the wait group is closed");
        }
        if (known == null) {
            known = SystemSockets.openSelector();
            selector = known;
        }
        return known;
    }

    /// Removes a link that is closed; any thread.
    void remove(SelectionKey key) {
        key.cancel();
        cancelled = true;
        wakeUp();
        removeCancelled();
    }

    /// Unless another thread selects: it does this afterwards.
    private void removeCancelled() {
        Selector at = selector;
        while (at != null && cancelled && selecting.compareAndSet(false, true)) {
            try {
                cancelled = false;
                at.selectNow(LinkGroup::leave);
            } catch (IOException | ClosedSelectorException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "a later select will remove a link", e);
            } finally {
                selecting.set(false);
            }
        }
    }

    private static void leave(SelectionKey key) {
        // Ignores the key: it is ready in the next select too.
    }

    /// Whether a thread waits here, or has done so a moment ago.
    boolean isAttended() {
        return waiting || System.nanoTime() - lastUse < EngineLinks.TICK_NANOS;
    }

    /// Whether a thread sleeps here.
    boolean isWaiting() {
        return waiting;
    }

    /// The [System#nanoTime()] of the last wait's begin or end, or look.
    long lastUse() {
        return lastUse;
    }

    @Override
    public boolean isUsed() {
        return selector != null;
    }

    @Override
    public void await(long millis, BooleanSupplier ended) {
        Selector at = selector;
        if (at == null || !selecting.compareAndSet(false, true)) {
            return;
        }
        try {
            acknowledge();
            lastUse = System.nanoTime();
            waiting = true;
            // Asked once no other thread can select: a select of that thread may have used up an earlier wake-up.
            if (!ended.getAsBoolean()) {
                at.select(onReady, millis);
                fresh = true;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClosedSelectorException e) {
            // The group is being closed; its next use reports that.
        } finally {
            lastUse = System.nanoTime();
            waiting = false;
            selecting.set(false);
        }
        removeCancelled();
    }

    /// The first look after a wait, or after a look that has found something, would find nothing else.
    @Override
    public void receive() {
        Selector at = selector;
        if (at == null || !selecting.compareAndSet(false, true)) {
            return;
        }
        try {
            lastUse = System.nanoTime();
            if (fresh) {
                fresh = false;
            } else {
                acknowledge();
                fresh = at.selectNow(onReady) > 0;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClosedSelectorException e) {
            // As in await.
        } finally {
            selecting.set(false);
        }
        removeCancelled();
    }

    private void ready(SelectionKey key) {
        if (key.attachment() instanceof PolledLink link) {
            link.driver().tryDrive();
            link.queue().received();
            unanswered.add(link);
        }
    }

    /// Acknowledges what the program has not answered before it waits or looks again.
    private void acknowledge() {
        int left = 0;
        for (int i = 0; i < unanswered.size(); i++) {
            PolledLink link = unanswered.get(i);
            if (!link.driver().acknowledgeUnanswered()) {
                unanswered.set(left, link);
                left++;
            }
        }
        while (unanswered.size() > left) {
            unanswered.removeLast();
        }
    }

    @Override
    public void leave() {
        if (!waiting) {
            lastUse = System.nanoTime() - EngineLinks.TICK_NANOS;
        }
    }

    /// Any thread.
    @Override
    public void wakeUp() {
        Selector at = selector;
        if (at != null && waiting) {
            at.wakeup();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        Selector opened = selector;
        if (opened != null) {
            try {
                opened.close();
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "closing a selector", e);
            }
        }
    }

    /// Watches a socket again, or not any more; any thread.
    void setWatched(SelectionKey key, boolean now) {
        try {
            key.interestOps(now ? SelectionKey.OP_READ : 0);
            if (now) {
                wakeUp();
            }
        } catch (CancelledKeyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "another thread has closed the link meanwhile", e);
        }
    }
}
