package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The links of one completion queue, for the thread that polls it. It reads a few recently busy links directly,
/// which is cheapest. Every few polls a selector finds which of the others are ready, so the cost of polling does not
/// grow with their number.
public final class LinkPoller implements Arrivals.Place, AutoCloseable {
    /// The number of links that are read directly.
    private static final int MAX_DIRECT = 4;
    private static final int MAX_ARMED = 64;
    /// After this many polls in a row without data, a link is left to the selector.
    private static final int IDLE_POLLS = 2_000;
    private static final int SELECT_EVERY = 8;
    /// More than a selector of sockets polls an idle connection.
    private static final int MOST_POLLS_IN_VAIN = 1_000;
    // With all links read directly, the selector only has closed links to remove.
    private static final int SELECT_SELDOM = 1024;

    private final Selector selector;
    private final CompletionRing completions;
    private final AtomicReference<@Nullable PolledLink> asked = new AtomicReference<>();
    private final @Nullable PolledLink[] direct = new @Nullable PolledLink[MAX_DIRECT];
    private final Consumer<SelectionKey> onReady = this::ready;
    private final Consumer<SelectionKey> onAwaited = this::awaited;
    private final Set<PolledLink> links = ConcurrentHashMap.newKeySet();
    /// The asked links that the polling thread has taken from the list.
    private @Nullable PolledLink taken;
    private int directCount;
    private int turn;
    private final AtomicBoolean selecting = new AtomicBoolean();
    private volatile boolean waiting;
    private volatile long lastPoll = System.nanoTime() - EngineLinks.TICK_NANOS;
    private volatile @Nullable LinkGroup group;
    /// Whether the group does not watch all links.
    private volatile boolean apart;
    private int pollsInVain;
    /// Whether a wait has read the sockets, and no poll has looked at them since.
    private volatile boolean fresh;
    /// Whether the last poll has found the queue armed, and no thread has waited since.
    private volatile boolean lastArmed;

    /// No links yet.
    ///
    /// @param completions the ring of the completion queue
    public LinkPoller(CompletionRing completions) {
        this.completions = completions;
        try {
            selector = SystemSockets.openSelector();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Adds a link; thread-safe.
    SelectionKey add(PolledLink link) throws IOException {
        SelectionKey key = link.driver().channel().register(selector, SelectionKey.OP_READ, link);
        links.add(link);
        if (!link.watchInGroup()) {
            apart = true;
        }
        return key;
    }

    /// The wait group at whose place data arrives; null if there is none.
    @Nullable
    LinkGroup group() {
        return group;
    }

    /// Also adds the sockets of the links to the selector of a wait group.
    ///
    /// @param place null to end that
    void join(@Nullable LinkGroup place) {
        group = place;
        // A link that is added meanwhile sees the group itself.
        boolean all = true;
        for (PolledLink link : links) {
            all &= link.watchInGroup();
        }
        apart = !all;
    }

    /// Whether a thread that waits for a group reads the links.
    boolean isInAttendedGroup() {
        LinkGroup place = group;
        return place != null && !apart && place.isAttended();
    }

    /// The thread of the group has received something.
    void received() {
        pollsInVain = 0;
    }

    /// Whether a thread that waits for a group sleeps at the sockets.
    boolean isAwaitedInGroup() {
        LinkGroup place = group;
        return place != null && !apart && place.isWaiting();
    }

    /// Whether [#drive] may do something.
    boolean mayDrive() {
        if (taken != null || asked.get() != null || directCount > 0 || !isLeftToGroup()) {
            return true;
        }
        pollsInVain = Math.min(pollsInVain + 1, MOST_POLLS_IN_VAIN);
        return false;
    }

    /// Whether the thread of the group reads the links. Not if a thread polls all the time instead of waiting.
    private boolean isLeftToGroup() {
        return isInAttendedGroup() && (pollsInVain < MOST_POLLS_IN_VAIN || isAwaitedInGroup());
    }

    /// Removes a link that is closed; thread-safe.
    void remove(PolledLink link, SelectionKey key) {
        links.remove(link);
        key.cancel();
        if (!selecting.compareAndSet(false, true)) {
            // A thread polls, perhaps this one, or waits: its next select removes the key.
            selector.wakeup();
            return;
        }
        try {
            // A channel is not fully closed before its keys are gone.
            selector.selectNow(LinkPoller::leave);
        } catch (IOException e) {
            SafeLogger.of(LinkPoller.class).log(System.Logger.Level.DEBUG, "a later select will remove a link", e);
        } finally {
            selecting.set(false);
        }
    }

    private static void leave(SelectionKey key) {
        // Ignores the key: it is ready in the next select too.
    }

    /// Makes the polling thread drive a link that has something to send. Thread-safe.
    void ask(PolledLink link) {
        if (link.markAsked()) {
            PolledLink first;
            do {
                first = asked.get();
                link.setNext(first);
            } while (!asked.compareAndSet(first, link));
        }
    }

    /// The next link that was asked; the thread that polls.
    private @Nullable PolledLink nextAsked() {
        PolledLink link = taken;
        if (link == null) {
            link = asked.get() == null ? null : asked.getAndSet(null);
            if (link == null) {
                return null;
            }
        }
        taken = link.next();
        link.setNext(null);
        link.clearAsked();
        return link;
    }

    /// The [System#nanoTime()] of the last poll.
    long lastPoll() {
        LinkGroup place = group;
        return place == null ? lastPoll : Math.max(lastPoll, place.lastUse());
    }

    /// Whether a thread has polled it recently.
    boolean isPolled() {
        return System.nanoTime() - lastPoll() < EngineLinks.TICK_NANOS;
    }

    /// Whether a thread sleeps until the next completion.
    boolean isArmed() {
        return completions.isArmed();
    }

    /// Whether a thread sleeps at the sockets.
    boolean isWaiting() {
        return waiting || isAwaitedInGroup();
    }

    /// Whether the polling thread itself sees incoming data: it does not sleep, or sleeps at the sockets.
    boolean isAttended() {
        return waiting || !completions.isArmed() || isInAttendedGroup();
    }

    /// Sleeps until data arrives on one of the links, and drives that link. This wakes one thread; the engine would
    /// have to wake the waiting thread in turn. Call it after the armed queue was polled once more. Returns at once
    /// while another thread selects.
    ///
    /// @param ended asked once no other thread can select, because a select of a thread that polls may have
    ///        used up an earlier [#wakeUp()]
    @Override
    public void await(long millis, BooleanSupplier ended) {
        if (!selecting.compareAndSet(false, true)) {
            return;
        }
        lastPoll = System.nanoTime();
        lastArmed = false;
        waiting = true;
        try {
            if (!ended.getAsBoolean()) {
                selector.select(onAwaited, millis);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClosedSelectorException e) {
            // The completion queue is being closed; its next use reports that.
        } finally {
            waiting = false;
            selecting.set(false);
            lastPoll = System.nanoTime();
        }
    }

    @Override
    public void wakeUp() {
        selector.wakeup();
    }

    /// Makes a later poll drive the link once more, to acknowledge what the program does not answer.
    private void awaited(SelectionKey key) {
        waiting = false;
        if (key.attachment() instanceof PolledLink link) {
            link.driver().tryDrive();
            fresh = true;
            ask(link);
        }
    }

    /// Drives the links that are ready. Called by the polling thread when it has found no completion.
    public void drive() {
        lastPoll = System.nanoTime();
        boolean readsDirectly = !isLeftToGroup();
        boolean armed = completions.isArmed();
        boolean read = isToRead(armed);
        if (readsDirectly && !read && !armed) {
            // What the links owe their peers may still travel with an answer.
            return;
        }
        // Bounded: a link that makes room for another one may be asked again at once. A thread that is about to sleep
        // takes more, because nobody would acknowledge for the others before the engine does.
        int most = armed ? MAX_ARMED : MAX_DIRECT;
        PolledLink link = nextAsked();
        for (int i = 1; link != null; i++) {
            if (!readsDirectly) {
                link.driver().tryDrive();
            } else if (!armed || link.driver().hasSomethingToSend()) {
                readDirectly(link);
            }
            link = i < most ? nextAsked() : null;
        }
        if (readsDirectly && read) {
            read();
        } else if (readsDirectly) {
            acknowledge();
        }
        if (!readsDirectly || completions.isArmed()) {
            leaveAllToSelector();
        }
    }

    /// Whether to look at the sockets. The first poll after a wait does not, because the wait has read them. Nor does
    /// the first one after the queue was armed: the next wait sees what they have, or the engine was told to read
    /// them ([TcpArrivals#armed]). So a thread that sleeps reads once for each message.
    private boolean isToRead(boolean armed) {
        boolean before = fresh;
        boolean next = armed && !lastArmed;
        if (before) {
            fresh = false;
        }
        if (armed != lastArmed) {
            lastArmed = armed;
        }
        return !before && !next;
    }

    private void read() {
        for (int i = directCount - 1; i >= 0; i--) {
            driveDirect(i);
        }
        int every = directCount < links.size() ? SELECT_EVERY : SELECT_SELDOM;
        if (directCount == 0 || ++turn >= every) {
            turn = 0;
            select();
        }
    }

    /// The polling thread is about to sleep, so it does not answer what has arrived.
    private void acknowledge() {
        for (int i = directCount - 1; i >= 0; i--) {
            PolledLink link = direct[i];
            if (link != null) {
                link.driver().acknowledgeUnanswered();
            }
        }
    }

    /// The polling thread is about to sleep, and what arrives must wake it.
    private void leaveAllToSelector() {
        for (int i = directCount - 1; i >= 0; i--) {
            leaveToSelector(i);
        }
    }

    private void driveDirect(int index) {
        PolledLink link = direct[index];
        if (link == null || link.driver().isClosed()) {
            leaveToSelector(index);
            return;
        }
        link.drive();
        if (link.idlePolls() > IDLE_POLLS && link.driver().isQuiet()) {
            leaveToSelector(index);
        }
    }

    private void select() {
        if (!selecting.compareAndSet(false, true)) {
            // Another thread waits at the selector.
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
        if (key.attachment() instanceof PolledLink link) {
            link.driver().tryDrive();
            readDirectly(link);
        }
    }

    /// Starts reading a link directly; if there are too many, the one that was idle longest makes room.
    private void readDirectly(PolledLink link) {
        if (link.driver().isClosed() || link.isDirect()) {
            return;
        }
        if (directCount == MAX_DIRECT) {
            leaveToSelector(idlest());
        }
        direct[directCount] = link;
        directCount++;
        link.readDirectly(true);
    }

    private int idlest() {
        int idlest = 0;
        int most = -1;
        for (int i = 0; i < directCount; i++) {
            PolledLink link = direct[i];
            int idle = link == null ? Integer.MAX_VALUE : link.idlePolls();
            if (idle > most) {
                most = idle;
                idlest = i;
            }
        }
        return idlest;
    }

    private void leaveToSelector(int index) {
        PolledLink link = direct[index];
        directCount--;
        direct[index] = direct[directCount];
        direct[directCount] = null;
        if (link != null) {
            link.readDirectly(false);
        }
        if (waiting) {
            // A select does not see sockets that are added after it began, and the engine does not read them either
            // while this thread polls.
            selector.wakeup();
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
