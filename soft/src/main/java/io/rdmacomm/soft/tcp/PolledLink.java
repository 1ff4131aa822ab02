package io.rdmacomm.soft.tcp;

import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A link as one completion queue sees it: whether the thread that polls the queue reads it directly, and whether that
/// thread was asked to drive it. Asking allocates nothing.
final class PolledLink {
    private static final SafeLogger LOGGER = SafeLogger.of(PolledLink.class);

    private final LinkDriver driver;
    private final LinkPoller queue;
    private final boolean only;
    private final AtomicBoolean asked = new AtomicBoolean();
    private @Nullable SelectionKey key;
    private @Nullable LinkGroup group;
    private @Nullable SelectionKey groupKey;
    private boolean closed;
    private volatile boolean direct;
    private @Nullable PolledLink next;
    private int idlePolls;

    /// @param only whether this is the only completion queue of the link
    PolledLink(LinkDriver driver, LinkPoller queue, boolean only) {
        this.driver = driver;
        this.queue = queue;
        this.only = only;
    }

    LinkDriver driver() {
        return driver;
    }

    /// The completion queue's links.
    LinkPoller queue() {
        return queue;
    }

    /// Makes the selector of the queue watch the socket.
    void open() throws IOException {
        key = queue.add(this);
    }

    void close() {
        if (key != null) {
            queue.remove(this, key);
        }
        synchronized (this) {
            closed = true;
            leaveGroup();
        }
    }

    /// Makes the selector of the queue's wait group watch the socket, and no longer that of another group. A link of
    /// two queues is in no group, because the queues may be in different ones.
    ///
    /// @return whether the group of the queue, if it has one, watches the socket
    synchronized boolean watchInGroup() {
        LinkGroup place = queue.group();
        SelectionKey known = groupKey;
        LinkGroup old = group;
        if (old != null && known != null && (place == null || place.equals(old))) {
            // The key stays until the link is closed: a selector does not take a channel again before it has removed
            // a cancelled key.
            old.setWatched(known, place != null);
            return true;
        }
        leaveGroup();
        if (place == null || closed) {
            return true;
        }
        if (!only) {
            return false;
        }
        try {
            groupKey = place.watch(this);
            group = place;
            return true;
        } catch (IOException | CancelledKeyException | ClosedSelectorException e) {
            // The engine reads the link instead.
            LOGGER.log(System.Logger.Level.DEBUG, "a wait group does not watch a link", e);
            return false;
        }
    }

    private void leaveGroup() {
        SelectionKey known = groupKey;
        LinkGroup old = group;
        groupKey = null;
        group = null;
        if (old != null && known != null) {
            old.remove(known);
        }
    }

    // ---- Requests; any thread ----

    /// Makes the polling thread drive the link, although nothing has arrived.
    void ask() {
        if (!direct) {
            queue.ask(this);
        }
    }

    /// Notes that the thread is asked to drive the link.
    ///
    /// @return false if it was asked already
    boolean markAsked() {
        return asked.compareAndSet(false, true);
    }

    /// The thread may be asked again from here on.
    void clearAsked() {
        asked.set(false);
    }

    /// The next link in a list of those that were asked.
    @Nullable
    PolledLink next() {
        return next;
    }

    void setNext(@Nullable PolledLink link) {
        next = link;
    }

    // ---- The polling thread ----

    /// Whether the polling thread reads the link directly.
    boolean isDirect() {
        return direct;
    }

    /// Starts or stops reading the link directly. While it is read directly, the selector need not watch the socket.
    void readDirectly(boolean now) {
        idlePolls = 0;
        direct = now;
        try {
            if (key != null) {
                key.interestOps(now ? 0 : SelectionKey.OP_READ);
            }
        } catch (CancelledKeyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "another thread has closed the link meanwhile", e);
        }
        if (!now && driver.hasSomethingToSend()) {
            // While the link was read directly, the thread was not asked.
            queue.ask(this);
        }
    }

    /// Drives the link once.
    void drive() {
        idlePolls = driver.tryDrive() ? 0 : idlePolls + 1;
    }

    /// The number of polls in a row that have received nothing.
    int idlePolls() {
        return idlePolls;
    }
}
