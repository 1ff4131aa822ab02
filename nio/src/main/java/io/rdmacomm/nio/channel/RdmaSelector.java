package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.RsConnection;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WaitGroup;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A selector for rsockets and for channels of the JDK.
///
/// It polls only *hot* connections, which had activity recently. One that stays idle is armed, polled once more,
/// and then costs nothing until its completion channel has an event. The selecting thread waits for these events in
/// a wait group. Other threads report changes of a channel with [#note].
public final class RdmaSelector extends AbstractSelector {
    private static final SafeLogger LOGGER = SafeLogger.of(RdmaSelector.class);
    /// The number of idle passes in a row after which a connection is armed even if others keep the selector busy.
    private static final int IDLE_PASSES = 256;
    /// How long the events of cold connections may wait while hot ones keep the selector busy.
    private static final long EVENTS_NANOS = 50_000;
    /// The same while the selector polls instead of sleeping: what comes from the network is an event.
    private static final long SPINNING_EVENTS_NANOS = 2_000;
    /// The timeout of the inner selector is in milliseconds: rounds nanoseconds up.
    private static final long ROUND_UP = 999_999;
    private static final Duration AT_ONCE = Duration.ZERO;

    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> keysView = Collections.unmodifiableSet(keys);
    private final SelectedKeys<SelectionKey> selected = new SelectedKeys<>();
    private final ConcurrentLinkedQueue<RdmaSelectionKey> noted = new ConcurrentLinkedQueue<>();
    private final Consumer<SelectionKey> onOrdinary = this::ordinaryReady;
    private final Spin spin = new Spin();
    private volatile boolean woken;
    private volatile boolean sleeping;
    private volatile @Nullable WaitGroup group;
    private volatile @Nullable OrdinaryKeys ordinary;

    // Only for the selecting thread.
    private final List<RdmaSelectionKey> hot = new ArrayList<>();
    private final Map<CompletionChannel, RdmaSelectionKey> byEvents = new HashMap<>();
    private final Set<RdmaSelectionKey> forAction = new LinkedHashSet<>();
    private boolean inSelect;
    /// The key that the selecting thread polls now. It sees itself what that changes.
    private @Nullable RdmaSelectionKey polled;
    private @Nullable Thread pollingThread;
    private boolean withAction;
    private boolean anyReady;
    private int found;
    private long eventsTaken = System.nanoTime();

    /// A selector without keys.
    public RdmaSelector(SelectorProvider provider) {
        super(provider);
    }

    // ---- Any thread ----

    @Override
    public Set<SelectionKey> keys() {
        ensureOpen();
        return keysView;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        ensureOpen();
        return selected;
    }

    private void ensureOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, @Nullable Object attachment) {
        ensureOpen();
        RdmaSelectionKey key = new RdmaSelectionKey(this, channel);
        var _ = key.attach(attachment);
        SelectableRdma rdma = key.rdma();
        if (rdma == null) {
            registerOrdinary(channel, key);
        }
        if (rdma != null) {
            rdma.add(key);
        }
        // From here on another thread may cancel the key.
        keys.add(key);
        key.begin(ops);
        if (!isOpen()) {
            keys.remove(key);
            if (rdma != null) {
                rdma.remove(key);
            }
            key.cancel();
            throw new ClosedSelectorException();
        }
        return key;
    }

    private void registerOrdinary(AbstractSelectableChannel channel, RdmaSelectionKey key) {
        try {
            OrdinaryKeys all = useOrdinary();
            // A select of the inner selector holds its locks.
            all.wakeup();
            all.register(channel, key);
        } catch (ClosedChannelException e) {
            // Unexpected: register(2) of the channel has checked this.
            throw new IllegalStateException("the channel was closed meanwhile", e);
        } catch (IOException e) {
            IllegalSelectorException failure = new IllegalSelectorException();
            failure.initCause(e);
            throw failure;
        }
    }

    private OrdinaryKeys useOrdinary() throws IOException {
        synchronized (keys) {
            OrdinaryKeys all = ordinary;
            if (all == null) {
                all = new OrdinaryKeys(this::wakeSleeper);
                ordinary = all;
            }
            return all;
        }
    }

    /// Whether this thread polls the key now. Only that thread gets true, so it needs no lock.
    boolean isPolling(RdmaSelectionKey key) {
        return polled == key && Thread.currentThread().equals(pollingThread);
    }

    /// Makes the selecting thread check a key.
    void note(RdmaSelectionKey key) {
        noted.add(key);
        wakeSleeper();
    }

    private void wakeSleeper() {
        if (sleeping && !Thread.holdsLock(this)) {
            wakeNow();
        }
    }

    private void wakeNow() {
        WaitGroup waiting = group;
        if (waiting != null) {
            waiting.wakeUp();
        }
        OrdinaryKeys all = ordinary;
        if (all != null) {
            all.wakeup();
        }
    }

    @Override
    public Selector wakeup() {
        woken = true;
        if (sleeping) {
            wakeNow();
        }
        return this;
    }

    @Override
    protected void implCloseSelector() throws IOException {
        var _ = wakeup();
        synchronized (this) {
            synchronized (selected) {
                for (SelectionKey key : keys) {
                    remove((RdmaSelectionKey) key);
                }
                selected.clear();
            }
            WaitGroup waiting = group;
            if (waiting != null) {
                Closer.step(waiting, waiting::close);
            }
            OrdinaryKeys all = ordinary;
            if (all != null) {
                all.close();
            }
        }
    }

    // ---- Selecting ----

    @Override
    public int selectNow() throws IOException {
        return select(0L, true, null);
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return select(0L, true, Objects.requireNonNull(action));
    }

    @Override
    public int select() throws IOException {
        return select(Timeouts.NONE, false, null);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return select(action, 0);
    }

    @Override
    public int select(long millis) throws IOException {
        return select(nanos(millis), false, null);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long millis) throws IOException {
        return select(nanos(millis), false, Objects.requireNonNull(action));
    }

    private static long nanos(long millis) {
        if (millis < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
        return millis == 0 ? Timeouts.NONE : TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /// @param action receives the ready keys, and the selected-key set is unchanged; null to add them to that set
    private int select(long nanos, boolean now, @Nullable Consumer<SelectionKey> action) throws IOException {
        synchronized (this) {
            ensureOpen();
            if (inSelect) {
                throw new IllegalStateException("select in progress");
            }
            inSelect = true;
            pollingThread = Thread.currentThread();
            withAction = action != null;
            try {
                synchronized (selected) {
                    selectLocked(nanos, now);
                    return action == null ? found : act(action);
                }
            } finally {
                forAction.clear();
                inSelect = false;
            }
        }
    }

    private void selectLocked(long nanos, boolean now) throws IOException {
        found = 0;
        anyReady = false;
        removeCancelled();
        if (now) {
            pass(true, EVENTS_NANOS);
            woken = false;
        } else {
            selectBlocking(Math.min(nanos, Timeouts.NONE));
        }
        removeCancelled();
    }

    private int act(Consumer<SelectionKey> action) {
        int count = 0;
        for (RdmaSelectionKey key : forAction) {
            if (key.isValid()) {
                count++;
                action.accept(key);
                ensureOpen();
            }
        }
        return count;
    }

    private void selectBlocking(long nanos) throws IOException {
        try {
            begin();
            long begin = System.nanoTime();
            long spinEnd = begin;
            boolean polled = false;
            boolean first = true;
            while (isOpen()) {
                pass(first, polled ? SPINNING_EVENTS_NANOS : EVENTS_NANOS);
                long now = System.nanoTime();
                if (anyReady
                        || woken
                        || now - begin >= nanos
                        || Thread.currentThread().isInterrupted()) {
                    break;
                }
                if (first && !hot.isEmpty()) {
                    spinEnd = now + spin.nanos();
                }
                first = false;
                if (now - spinEnd < 0 && !hot.isEmpty()) {
                    polled = true;
                    Thread.onSpinWait();
                } else if (isCold()) {
                    if (polled) {
                        polled = false;
                        spin.failed();
                    }
                    sleep(nanos - (now - begin));
                    removeCancelled();
                    spinEnd = System.nanoTime();
                }
            }
            if (polled && anyReady) {
                spin.helped();
            }
        } finally {
            woken = false;
            end();
        }
    }

    /// Checks all channels where something may have happened.
    ///
    /// @param eventsNanos how long events may wait
    private void pass(boolean withOrdinary, long eventsNanos) throws IOException {
        takeNoted();
        if (System.nanoTime() - eventsTaken >= eventsNanos) {
            takeEvents(AT_ONCE);
        }
        for (int i = hot.size() - 1; i >= 0; i--) {
            poll(i);
        }
        OrdinaryKeys all = ordinary;
        if (withOrdinary && all != null && !all.isEmpty()) {
            all.selectNow(onOrdinary);
        }
    }

    private void takeNoted() throws IOException {
        RdmaSelectionKey key = noted.poll();
        while (key != null) {
            key.clearNoted();
            if (key.isValid()) {
                attend(key);
            }
            key = noted.poll();
        }
    }

    /// A key is new, or its interest or its channel has changed.
    private void attend(RdmaSelectionKey key) throws IOException {
        SelectionKey inner = key.ordinary();
        SelectableRdma rdma = key.rdma();
        if (inner != null) {
            OrdinaryKeys.update(key, inner);
            return;
        }
        if (rdma == null) {
            return;
        }
        AbstractSelectableChannel channel = rdma.ordinary();
        if (channel != null) {
            attendOrdinary(channel, key);
            return;
        }
        RsConnection connection = rdma.connection();
        if (connection == null || isInterested(key, rdma, connection)) {
            heat(key);
        }
    }

    /// Begins or ends to wait for the events of a connection. Some programs have a selector for reading and one for
    /// writing: only the one that is interested wakes up.
    private boolean isInterested(RdmaSelectionKey key, SelectableRdma rdma, RsConnection connection) {
        if (key.interest() != 0 && !key.isWatched()) {
            watch(key, connection);
        } else if (key.interest() == 0 && key.isWatched() && rdma.isShared()) {
            unwatch(key, rdma);
            if (key.isHot()) {
                cool(hot.indexOf(key));
            }
        }
        return key.interest() != 0 || key.isWatched();
    }

    private void attendOrdinary(AbstractSelectableChannel channel, RdmaSelectionKey key) throws IOException {
        try {
            useOrdinary().register(channel, key);
        } catch (ClosedChannelException | CancelledKeyException | IllegalBlockingModeException e) {
            // Another thread has cancelled the key meanwhile, and closed the channel or made it blocking.
        }
    }

    private void watch(RdmaSelectionKey key, RsConnection connection) {
        try {
            useGroup(connection).add(connection.events());
            byEvents.put(connection.events(), key);
            key.setWatched(true);
        } catch (IllegalStateException e) {
            // The channel is being closed, which cancels the key.
        } catch (VerbException | Error e) {
            // Nothing would wake the selector for this connection, so the program must see a failure.
            LOGGER.log(Level.WARNING, () -> connection + " is reset: a selector has no room for it", e);
            connection.abort();
        }
    }

    private WaitGroup useGroup(RsConnection connection) {
        WaitGroup waiting = group;
        if (waiting == null) {
            waiting = WaitGroup.create(connection.events().context());
            group = waiting;
        }
        return waiting;
    }

    private void heat(RdmaSelectionKey key) {
        if (!key.isHot()) {
            key.setHot(true);
            hot.add(key);
        }
    }

    private void cool(int index) {
        hot.get(index).setHot(false);
        RdmaSelectionKey last = hot.removeLast();
        if (index < hot.size()) {
            hot.set(index, last);
        }
    }

    private void poll(int index) {
        RdmaSelectionKey key = hot.get(index);
        SelectableRdma rdma = key.rdma();
        if (rdma == null || !key.isValid()) {
            cool(index);
            return;
        }
        int ready = ready(key, rdma, false);
        if (ready != 0) {
            key.noteBusy();
            found(key, ready);
        } else if (rdma.connection() == null) {
            // Its listeners notify the selector of changes.
            cool(index);
        } else if (key.noteIdle() >= IDLE_PASSES && ready(key, rdma, true) == 0) {
            cool(index);
        }
    }

    /// The operations of interest that are ready. If polling the channel fails, all of them, as after an error of
    /// poll(2): the program finds the failure when it uses the channel, and other channels are not affected.
    private int ready(RdmaSelectionKey key, SelectableRdma rdma, boolean arm) {
        polled = key;
        try {
            return (arm ? rdma.arm() : rdma.poll()) & key.interest();
        } catch (RuntimeException | Error e) {
            LOGGER.log(Level.DEBUG, () -> rdma + " cannot be polled", e);
            return key.interest();
        } finally {
            polled = null;
        }
    }

    /// Arms the hot connections.
    ///
    /// @return whether nothing is ready, so that the thread can sleep
    private boolean isCold() {
        boolean cold = true;
        for (int i = hot.size() - 1; i >= 0; i--) {
            RdmaSelectionKey key = hot.get(i);
            SelectableRdma rdma = key.rdma();
            if (rdma != null && key.isValid() && ready(key, rdma, true) != 0) {
                cold = false;
            } else {
                cool(i);
            }
        }
        return cold;
    }

    private void found(RdmaSelectionKey key, int ready) {
        // Even if the key was selected before: the JDK's selector also returns then.
        anyReady = true;
        if (withAction) {
            key.setReady(forAction.add(key) ? ready : key.ready() | ready);
        } else if (selected.contains(key)) {
            int all = key.ready() | ready;
            if (all != key.ready()) {
                key.setReady(all);
                found++;
            }
        } else {
            key.setReady(ready);
            selected.select(key);
            found++;
        }
    }

    private void ordinaryReady(SelectionKey inner) {
        if (inner.attachment() instanceof RdmaSelectionKey key && key.isValid()) {
            int ready = readyOf(inner) & key.interest();
            if (ready != 0) {
                found(key, ready);
            }
        }
    }

    private static int readyOf(SelectionKey inner) {
        try {
            return inner.readyOps();
        } catch (CancelledKeyException e) {
            // Another thread has closed the channel meanwhile.
            return 0;
        }
    }

    // ---- Sleeping ----

    private void sleep(long nanos) throws IOException {
        WaitGroup waiting = byEvents.isEmpty() ? null : group;
        // The selector that will wake the thread must exist before it sleeps.
        OrdinaryKeys all = waiting == null ? useOrdinary() : ordinary;
        sleeping = true;
        try {
            if (!noted.isEmpty() || woken || !isOpen()) {
                return;
            }
            if (waiting == null && all != null) {
                all.select(TimeUnit.NANOSECONDS.toMillis(nanos + ROUND_UP), onOrdinary);
            } else if (all == null || all.isEmpty()) {
                // Registering a channel now notes its key, which ends the wait.
                takeEvents(Duration.ofNanos(nanos));
            } else {
                sleepAtBoth(all, nanos);
            }
        } finally {
            sleeping = false;
        }
    }

    private void sleepAtBoth(OrdinaryKeys all, long nanos) throws IOException {
        all.startWaiting();
        try {
            takeEvents(Duration.ofNanos(nanos));
        } finally {
            all.stopWaiting();
            all.selectNow(onOrdinary);
        }
    }

    /// Takes the events of the wait group.
    ///
    /// @param timeout how long to wait for the first one
    private void takeEvents(Duration timeout) {
        WaitGroup waiting = group;
        if (waiting == null) {
            return;
        }
        try {
            CompletionChannel events = waiting.await(timeout);
            while (events != null) {
                take(waiting, events);
                events = waiting.await(AT_ONCE);
            }
            eventsTaken = System.nanoTime();
        } catch (RdmaInterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException e) {
            // The device was closed, which ended its connections; or this selector was.
            forgetGroup();
        }
    }

    private void forgetGroup() {
        group = null;
        for (RdmaSelectionKey key : byEvents.values()) {
            key.setWatched(false);
            heat(key);
        }
        byEvents.clear();
    }

    private void take(WaitGroup waiting, CompletionChannel events) {
        RdmaSelectionKey key = byEvents.get(events);
        SelectableRdma rdma = key == null ? null : key.rdma();
        RsConnection connection = rdma == null ? null : rdma.connection();
        if (key == null || rdma == null || connection == null || !key.isValid()) {
            // The thread that closes the connection waits for its events.
            waiting.remove(events);
            return;
        }
        if (key.interest() == 0 && rdma.isShared()) {
            unwatch(key, rdma);
            return;
        }
        heat(key);
        polled = key;
        try {
            connection.takeEvent();
        } catch (RuntimeException | Error e) {
            // Continue with the events of other connections. The next poll finds the failure.
            LOGGER.log(Level.DEBUG, () -> connection + " cannot take its event", e);
        } finally {
            polled = null;
        }
    }

    // ---- Cancelled keys ----

    private void removeCancelled() throws IOException {
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            if (cancelled.isEmpty()) {
                return;
            }
            for (Iterator<SelectionKey> each = cancelled.iterator(); each.hasNext(); ) {
                RdmaSelectionKey key = (RdmaSelectionKey) each.next();
                // First, so that a failure does not bring the key back at each select.
                each.remove();
                remove(key);
            }
        }
        OrdinaryKeys all = ordinary;
        if (all != null) {
            // Now closed channels of the JDK release their sockets.
            all.selectNow(onOrdinary);
        }
    }

    /// Removes the key even if one of the steps fails.
    private void remove(RdmaSelectionKey key) {
        keys.remove(key);
        selected.remove(key);
        if (key.isHot()) {
            cool(hot.indexOf(key));
        }
        SelectableRdma rdma = key.rdma();
        if (rdma != null) {
            Closer.step(rdma, () -> rdma.remove(key));
            Closer.step(rdma, () -> unwatch(key, rdma));
        }
        deregister(key);
        SelectionKey inner = key.ordinary();
        OrdinaryKeys all = ordinary;
        if (inner != null && all != null) {
            all.remove(inner);
        }
    }

    private void unwatch(RdmaSelectionKey key, SelectableRdma rdma) {
        RsConnection connection = rdma.connection();
        WaitGroup waiting = group;
        if (key.isWatched() && connection != null && waiting != null) {
            key.setWatched(false);
            byEvents.remove(connection.events());
            waiting.remove(connection.events());
        }
    }
}
