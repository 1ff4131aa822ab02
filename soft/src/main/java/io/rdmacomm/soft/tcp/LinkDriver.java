package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.tcp.DrivingTable.Event;
import io.rdmacomm.soft.tcp.DrivingTable.State;
import io.rdmacomm.soft.tcp.DrivingTable.Step;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendLock;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// Drives a link, on the thread that posts, on those that poll or wait at its completion queues ([LinkPoller]), or
/// on the engine ([EngineLinks]). [DrivingTable] has the rule; this class detects the events and follows the table.
public final class LinkDriver implements Engine.Ready {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    private final Link link;
    private final SendLock lock;
    private final RetryTimer retries;
    private final LinkPoller sends;
    private final LinkPoller receives;
    private final EngineLinks engineLinks;
    private final PolledLink inSends;
    /// The same object as `inSends` if one completion queue serves both.
    private final PolledLink inReceives;

    private final boolean oneQueue;
    private volatile @Nullable SelectionKey engineKey;
    private volatile State state = State.NOBODY;
    /// The socket did not take all frames, or an acknowledgement is to be sent.
    private volatile boolean framesLeft;
    /// When the engine checks again, or when a stream counts as ended; the engine.
    private long due;
    /// Whether the passes of the engine include this link; the engine.
    private boolean scheduled;
    /// Whether the engine has left an acknowledgement to the thread that it has woken; the engine.
    private boolean acknowledgesLater;
    private long acknowledgeAt;

    /// The link is not driven yet.
    ///
    /// @param lock of the link
    /// @param retries determines how long the peer may be silent
    /// @param sends the links of the completion queue of sends
    /// @param receives the links of the completion queue of receives
    LinkDriver(
            Link link,
            SendLock lock,
            RetryTimer retries,
            LinkPoller sends,
            LinkPoller receives,
            EngineLinks engineLinks) {
        this.link = link;
        this.lock = lock;
        this.retries = retries;
        this.sends = sends;
        this.receives = receives;
        this.engineLinks = engineLinks;
        this.oneQueue = receives.equals(sends);
        this.inSends = new PolledLink(this, sends, oneQueue);
        this.inReceives = oneQueue ? inSends : new PolledLink(this, receives, false);
    }

    /// Starts driving the link.
    void open() throws IOException {
        // First: from here on, the engine and polling threads may reach the link.
        state = DrivingTable.next(state, Event.OPENED);
        inSends.open();
        if (!oneQueue) {
            inReceives.open();
        }
        engineKey = engineLinks.register(link.channel(), READ, this);
        engineLinks.add(this);
    }

    SocketChannel channel() {
        return link.channel();
    }

    /// Whether the link was closed.
    public boolean isClosed() {
        return link.isClosed();
    }

    /// Whether there is nothing to do for the link until data arrives.
    boolean isQuiet() {
        return link.isQuiet();
    }

    /// Whether frames wait for the socket.
    public boolean isBlocked() {
        return link.isBlocked();
    }

    /// Whether the thread that polls those links reads this one directly.
    public boolean isReadDirectly(LinkPoller polling) {
        return (polling.equals(sends) ? inSends : inReceives).isDirect();
    }

    // ---- Threads that post; with the send lock ----

    /// Sends what was posted.
    void post() {
        link.transmit();
        finishDriving();
    }

    /// Receives and sends what is possible, including requests that were held back if they are due.
    void resume() {
        if (retries.isDue()) {
            link.release();
        }
        link.drive(true, true);
        finishDriving();
    }

    // ---- Threads that poll or wait ----

    /// Drives the link, unless another thread does.
    ///
    /// @return whether something was received
    boolean tryDrive() {
        if (!lock.tryEnter()) {
            return false;
        }
        try {
            framesLeft = false;
            boolean received = link.drive(false, false);
            if (link.isUnfinished()) {
                onFramesLeft();
            } else if (!link.isQuiet() && isAcknowledgementLeft()) {
                // If no thread polls again soon, the engine acknowledges.
                onFramesLeft();
            }
            return received;
        } finally {
            lock.leave();
        }
    }

    /// Acknowledges what was received and not answered, unless another thread drives the link.
    ///
    /// @return whether nothing is left to acknowledge
    boolean acknowledgeUnanswered() {
        if (link.isClosed() || link.isQuiet()) {
            return true;
        }
        if (!lock.tryEnter()) {
            return false;
        }
        try {
            link.acknowledge();
            finishDriving();
            return true;
        } finally {
            lock.leave();
        }
    }

    private boolean isAcknowledgementLeft() {
        return DrivingTable.step(state, Event.ACKNOWLEDGEMENT_LEFT) != Step.NOTHING;
    }

    /// Whether the link must be driven once more after a thread stops reading it directly.
    boolean hasSomethingToSend() {
        return framesLeft || !link.isQuiet();
    }

    // ---- After each drive; with the send lock ----

    private void finishDriving() {
        if (link.isUnfinished()) {
            onFramesLeft();
        }
    }

    /// Makes another thread or the engine send what the socket did not take.
    private void onFramesLeft() {
        framesLeft = true;
        Event event = isAwaited() ? Event.FRAMES_LEFT_AWAITED : Event.FRAMES_LEFT;
        switch (DrivingTable.step(state, event)) {
            case CHECK_SOON -> engineLinks.recall();
            case THREAD_SENDS -> lastPolled().ask();
            case ENGINE_SENDS -> awaitRoom();
            case BOTH_SEND -> {
                PolledLink polled = lastPolled();
                if (polled.queue().isPolled()) {
                    polled.ask();
                }
                awaitRoom();
            }
            case NOTHING, TO_NOBODY, TO_ENGINE, TO_STREAM, TO_THREAD, CHECK -> {}
        }
    }

    /// Makes the engine drive the link when the socket has room.
    private void awaitRoom() {
        SelectionKey key = engineKey;
        // Set on the engine's own thread, too: it may drive a link whose socket is not ready.
        if (key != null && key.isValid() && (key.interestOpsOr(WRITE) & WRITE) == 0 && !engineLinks.isCurrentThread()) {
            engineLinks.wakeup();
        }
    }

    /// The link in the completion queue that was polled last.
    private PolledLink lastPolled() {
        return oneQueue || sends.lastPoll() - receives.lastPoll() >= 0 ? inSends : inReceives;
    }

    /// Whether a thread sleeps until something arrives over the link.
    private boolean isAwaited() {
        return sends.isWaiting() || receives.isWaiting();
    }

    /// Whether a thread reads what arrives: it has polled a moment ago, or waits at the sockets and has nothing to
    /// send.
    private boolean isAttended(long now) {
        if (framesLeft && (isAwaited() || sends.isInAttendedGroup() || receives.isInAttendedGroup())) {
            return false;
        }
        long last = sends.lastPoll();
        if (!oneQueue) {
            last = Math.max(last, receives.lastPoll());
        }
        return now - last < EngineLinks.TICK_NANOS && sends.isAttended() && receives.isAttended();
    }

    // ---- The engine ----

    @Override
    public void ready(SelectionKey key) {
        // The engine may get here before the registering thread has the key.
        engineKey = key;
        // A closed link: its channel is being closed, or its descriptor reused.
        if (link.isClosed() || DrivingTable.step(state, Event.SOCKET_READY) != Step.CHECK) {
            return;
        }
        long now = System.nanoTime();
        if (receives.isAwaitedInGroup() && !framesLeft) {
            // The data also wakes the thread that waits there.
            leaveToThread(key, Event.ATTENDED, untilNextTick(now));
            schedule();
        } else {
            check(key, now);
        }
    }

    /// Checks the link again, for an incoming stream, a thread that it was left to, or a delayed acknowledgement.
    ///
    /// @param now in the time of [System#nanoTime()]
    /// @param recalled whether to check the link before it is due
    /// @return nanoseconds until the next call is due, or [EngineLinks#NEVER]
    long pass(long now, boolean recalled) {
        SelectionKey key = engineKey;
        if (link.isClosed() || key == null || !key.isValid()) {
            state = DrivingTable.next(state, Event.CLOSED);
            scheduled = false;
            return EngineLinks.NEVER;
        }
        Event event = recalled ? Event.RECALLED : due - now > 0 ? Event.PASS : Event.DUE;
        if (DrivingTable.step(state, event) == Step.CHECK) {
            check(key, state == State.STREAM ? System.nanoTime() : now);
        }
        if (acknowledgesLater) {
            acknowledge(now);
        }
        long wait = untilNextPass(now);
        scheduled = wait != EngineLinks.NEVER;
        return wait;
    }

    private long untilNextPass(long now) {
        long wait = switch (state) {
            case STREAM -> 0;
            case THREAD -> Math.max(1, due - now);
            case NOBODY, ENGINE -> EngineLinks.NEVER;
        };
        // Not exact: the engine does not watch its channels during waits of less than a millisecond.
        return acknowledgesLater ? Math.min(wait, Math.max(Engine.EXACT_NANOS, acknowledgeAt - now)) : wait;
    }

    /// Whether the engine has left the link to a thread.
    boolean isLeftToThread() {
        return state == State.THREAD;
    }

    private void check(SelectionKey key, long now) {
        if (isAttended(now)) {
            boolean inGroup = receives.isInAttendedGroup();
            leaveToThread(key, Event.ATTENDED, inGroup ? untilNextTick(now) : now + EngineLinks.TICK_NANOS);
        } else if (lock.tryEnter()) {
            try {
                drive(key, now);
            } finally {
                lock.leave();
            }
        } else {
            leaveToThread(key, Event.LOCKED, now + EngineLinks.LOCKED_NANOS);
        }
        if (state == State.STREAM || state == State.THREAD) {
            schedule();
        }
    }

    /// The links of a group share their times, so that the engine wakes up for all of them together.
    private static long untilNextTick(long now) {
        return (Math.floorDiv(now, EngineLinks.TICK_NANOS) + 2) * EngineLinks.TICK_NANOS;
    }

    private void leaveToThread(SelectionKey key, Event found, long until) {
        due = until;
        state = DrivingTable.next(state, found);
        setInterest(key, 0);
        if (framesLeft) {
            // Polling threads see incoming data, but not that the socket has room again.
            lastPolled().ask();
        }
        engineLinks.leftToThread();
    }

    private void drive(SelectionKey key, long now) {
        framesLeft = false;
        boolean received = driveFor(receives.isArmed(), now);
        if (received && link.isStreaming()) {
            state = DrivingTable.next(state, Event.STREAM_ARRIVED);
            due = System.nanoTime() + EngineLinks.STREAM_NANOS;
        } else {
            state = DrivingTable.next(state, due - now > 0 ? Event.STREAM_PAUSED : Event.STREAM_ENDED);
        }
        finishDriving();
        if (key.isValid() && !link.isClosed()) {
            // Under the lock, so that this does not undo what the next holder sets.
            setInterest(key, (state == State.ENGINE ? READ : 0) | (framesLeft ? WRITE : 0));
        }
    }

    /// Leaves the acknowledgement for a while to the thread that the data has woken. That thread is likely to answer,
    /// or to poll and find nothing. Between request and response, a separate acknowledgement would wake the peer
    /// once more.
    ///
    /// @param awaited whether a thread sleeps until something is received
    private boolean driveFor(boolean awaited, long now) {
        boolean received = link.drive(!awaited, true);
        if (awaited && receives.isArmed()) {
            link.acknowledge();
        } else if (awaited && !link.isQuiet() && !acknowledgesLater) {
            acknowledgesLater = true;
            acknowledgeAt = now + EngineLinks.TICK_NANOS;
            schedule();
        }
        return received;
    }

    /// Acknowledges the messages that the woken thread has not acknowledged in time.
    private void acknowledge(long now) {
        acknowledgesLater = !link.isQuiet();
        if (acknowledgesLater && acknowledgeAt - now <= 0) {
            if (lock.tryEnter()) {
                try {
                    acknowledgesLater = false;
                    link.acknowledge();
                    finishDriving();
                } finally {
                    lock.leave();
                }
            } else {
                // The thread that has the lock is likely to acknowledge.
                acknowledgeAt = now + EngineLinks.TICK_NANOS;
            }
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            engineLinks.schedule(this);
        }
    }

    /// Skips unchanged keys: the selector processes each key that is set.
    private static void setInterest(SelectionKey key, int operations) {
        if (key.interestOps() != operations) {
            key.interestOps(operations);
        }
    }

    /// Prompts the peer, or fails the link if the peer is silent for too long.
    void checkTime(long now) {
        if (link.isWaiting() || link.isBlocked() || !link.isQuiet() || link.isToRemind()) {
            if (lock.tryEnter()) {
                try {
                    link.checkTime(now, retries.retryNanos());
                    finishDriving();
                } finally {
                    lock.leave();
                }
            }
        } else {
            link.touch(now);
        }
    }

    /// Stops driving the link.
    void close() {
        inSends.close();
        if (!oneQueue) {
            inReceives.close();
        }
    }
}
