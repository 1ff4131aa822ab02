package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// Decides who drives a link: the threads that poll its completion queues ([PolledLinks]), or else the engine
/// ([EngineLinks]). The engine sees everything that arrives; while somebody polls it leaves the link alone, and looks
/// again a little later. Where a stream arrives, the engine reads the link directly, as a polling thread does, until
/// nothing has arrived for a while.
public final class LinkDriver implements Engine.Ready {
    private static final SafeLogger LOGGER = SafeLogger.of(LinkDriver.class);
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    private final Link link;
    private final SendLock lock;
    private final RetryTimer retries;
    private final PolledLinks sends;
    private final PolledLinks receives;
    private final EngineLinks engineLinks;
    private final PolledLinks.Wish ofSends = new PolledLinks.Wish(this);
    private final PolledLinks.Wish ofReceives;
    private @Nullable SelectionKey sendKey;
    private @Nullable SelectionKey receiveKey;
    private volatile @Nullable SelectionKey engineKey;
    private volatile boolean hotInSends;
    private volatile boolean hotInReceives;
    private volatile boolean deferred;
    private volatile boolean unfinished;
    private long due;
    private boolean listed;
    private boolean streaming;
    private long streamsUntil;
    private boolean readOn;
    private boolean owing;
    private long owesUntil;

    /// Nobody drives the link yet.
    ///
    /// @param lock of the link
    /// @param retries knows how long the peer may be silent
    /// @param sends the links of the completion queue of sends
    /// @param receives the links of the completion queue of receives
    LinkDriver(
            Link link,
            SendLock lock,
            RetryTimer retries,
            PolledLinks sends,
            PolledLinks receives,
            EngineLinks engineLinks) {
        this.link = link;
        this.lock = lock;
        this.retries = retries;
        this.sends = sends;
        this.receives = receives;
        this.engineLinks = engineLinks;
        this.ofReceives = receives.equals(sends) ? ofSends : new PolledLinks.Wish(this);
    }

    /// Starts to have the link driven.
    void open() throws IOException {
        sendKey = sends.add(this);
        receiveKey = receives.equals(sends) ? null : receives.add(this);
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

    /// Whether nothing is left to be done for the link until something arrives.
    boolean isQuiet() {
        return link.isQuiet();
    }

    /// Whether frames wait for the socket.
    public boolean isBlocked() {
        return link.isBlocked();
    }

    // ---- Polling threads ----

    /// Drives the link, unless another thread does.
    ///
    /// @return whether something came in
    boolean tryDrive() {
        if (!lock.tryEnter()) {
            return false;
        }
        try {
            unfinished = false;
            boolean came = link.drive(false, false);
            if (link.isUnfinished() || (!deferred && !link.isQuiet())) {
                // If no thread polls again soon, the engine tells the peer.
                wanted();
            }
            return came;
        } finally {
            lock.leave();
        }
    }

    /// Whether a polling thread reads the link directly.
    public boolean isHot(PolledLinks polling) {
        return polling.equals(sends) ? hotInSends : hotInReceives;
    }

    /// Whether a polling thread reads the link directly now, so that it need not be told of it.
    void hot(PolledLinks polling, boolean now) {
        boolean forSends = polling.equals(sends);
        if (forSends) {
            hotInSends = now;
        } else {
            hotInReceives = now;
        }
        SelectionKey key = forSends ? sendKey : receiveKey;
        try {
            if (key != null) {
                key.interestOps(now ? 0 : READ);
            }
        } catch (CancelledKeyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "another thread has closed the link meanwhile", e);
        }
        if (!now && (unfinished || !link.isQuiet())) {
            // It has had something to send since a moment ago.
            polling.want(wish(polling));
        }
    }

    /// The link has something to send that the socket did not take yet. Called with the send lock held.
    void wanted() {
        unfinished = true;
        if (isWaitedFor()) {
            // That thread wakes up when something arrives, and not when the socket has room again.
            engineLinks.reviewSoon();
        } else if (deferred || polled().isPolled()) {
            wish();
        }
        SelectionKey key = engineKey;
        // Also on the engine's own thread: it drives a link not only because its socket is ready.
        if (key != null
                && !deferred
                && key.isValid()
                && (key.interestOpsOr(WRITE) & WRITE) == 0
                && !engineLinks.isCurrentThread()) {
            engineLinks.wakeup();
        }
    }

    /// The completion queue that was polled last.
    private PolledLinks polled() {
        boolean forSends = receiveKey == null || sends.lastPoll() - receives.lastPoll() >= 0;
        return forSends ? sends : receives;
    }

    /// Has the polling thread drive the link, although nothing has arrived.
    private void wish() {
        PolledLinks polling = polled();
        if (!isHot(polling)) {
            polling.want(wish(polling));
        }
    }

    /// The wish with which that polling thread is asked to drive the link.
    PolledLinks.Wish wish(PolledLinks polling) {
        return polling.equals(sends) ? ofSends : ofReceives;
    }

    /// Whether a thread sleeps until something arrives over the link.
    private boolean isWaitedFor() {
        return sends.isWaiting() || receives.isWaiting();
    }

    private boolean isPolled(long now) {
        if (unfinished && isWaitedFor()) {
            return false;
        }
        long last = sends.lastPoll();
        if (receiveKey != null) {
            last = Math.max(last, receives.lastPoll());
        }
        return now - last < EngineLinks.TICK_NANOS && sends.isAttended() && receives.isAttended();
    }

    // ---- The engine ----

    @Override
    public void ready(SelectionKey key) {
        // The engine may get here before the registering thread has the key.
        engineKey = key;
        long now = System.nanoTime();
        if (link.isClosed()) {
            // Its channel is being closed, or its descriptor reused.
            return;
        }
        if (isPolled(now)) {
            defer(key, now + EngineLinks.TICK_NANOS);
        } else {
            drive(key, now);
        }
    }

    private void drive(SelectionKey key, long now) {
        if (!lock.tryEnter()) {
            defer(key, now + EngineLinks.LOCKED_NANOS);
            return;
        }
        try {
            unfinished = false;
            boolean came = driveFor(receives.isArmed(), now);
            if (link.isUnfinished()) {
                wanted();
            }
            if (came && link.isStreaming()) {
                streaming = true;
                streamsUntil = System.nanoTime() + EngineLinks.STREAM_NANOS;
            } else if (now - streamsUntil >= 0) {
                streaming = false;
            }
            if (key.isValid() && !link.isClosed()) {
                // With the lock held, so that the next holder's wish is not lost.
                setInterest(key, (streaming ? 0 : READ) | (unfinished ? WRITE : 0));
            }
        } finally {
            lock.leave();
        }
        if (streaming && !readOn) {
            readOn = true;
            engineLinks.readOn(this);
        }
    }

    /// Leaves the acknowledgement for a while to the thread that the arrival has woken. That thread is
    /// likely to answer, or to poll and find nothing. In a dialogue, a separate acknowledgement would
    /// wake the peer once more.
    ///
    /// @param awaited whether a thread sleeps until something is received
    private boolean driveFor(boolean awaited, long now) {
        boolean came = link.drive(!awaited, true);
        if (awaited && receives.isArmed()) {
            link.acknowledge();
        } else if (awaited && !link.isQuiet() && !owing) {
            owing = true;
            owesUntil = now + EngineLinks.TICK_NANOS;
            engineLinks.owe(this);
        }
        return came;
    }

    /// Acknowledges the messages that the woken thread has not acknowledged in time.
    ///
    /// @param now in the time of [System#nanoTime()]
    /// @return when this is due, or 0 if nothing is owed any more
    long settle(long now) {
        owing = !link.isQuiet() && !link.isClosed();
        if (owing && owesUntil - now <= 0) {
            if (lock.tryEnter()) {
                try {
                    owing = false;
                    link.acknowledge();
                    if (link.isUnfinished()) {
                        wanted();
                    }
                } finally {
                    lock.leave();
                }
            } else {
                // The holder is likely to say it.
                owesUntil = now + EngineLinks.TICK_NANOS;
            }
        }
        return owing ? owesUntil : 0;
    }

    /// The selector processes each key that is set, changed or not.
    private static void setInterest(SelectionKey key, int operations) {
        if (key.interestOps() != operations) {
            key.interestOps(operations);
        }
    }

    /// Reads more of a stream without the selector: the sender would pay for each time that its bytes wake up a
    /// selector.
    ///
    /// @return false if nothing has come for a while, or somebody else reads it
    boolean readOn() {
        SelectionKey key = engineKey;
        if (key == null || !key.isValid() || deferred) {
            streaming = false;
        } else {
            ready(key);
        }
        readOn = streaming && !link.isClosed();
        return readOn;
    }

    private void defer(SelectionKey key, long until) {
        due = until;
        deferred = true;
        streaming = false;
        key.interestOps(0);
        if (unfinished) {
            // Polling threads see incoming data, but not that the socket has room again.
            wish();
        }
        if (!listed) {
            listed = true;
            engineLinks.defer(this);
        }
    }

    /// Looks again at a link that was left to a polling thread.
    ///
    /// @param now in the time of [System#nanoTime()]
    /// @param review whether not to wait until it is due
    /// @return when it is due, or 0 if it is not let go of any more
    long review(long now, boolean review) {
        SelectionKey key = engineKey;
        if (link.isClosed() || key == null || !key.isValid()) {
            listed = false;
            return 0;
        }
        if (!review && due - now > 0) {
            return due;
        }
        if (isPolled(now)) {
            due = now + EngineLinks.TICK_NANOS;
            return due;
        }
        deferred = false;
        drive(key, now);
        listed = deferred;
        return deferred ? due : 0;
    }

    /// Prompts the peer, or fails the link if the peer is silent for too long.
    void checkTime(long now) {
        if (link.isWaiting() || link.isBlocked() || !link.isQuiet() || link.isToRemind()) {
            if (lock.tryEnter()) {
                try {
                    link.checkTime(now, retries.patienceNanos());
                    if (link.isUnfinished()) {
                        wanted();
                    }
                } finally {
                    lock.leave();
                }
            }
        } else {
            link.touch(now);
        }
    }

    /// Stops having the link driven.
    void close() {
        if (sendKey != null) {
            sends.remove(sendKey);
        }
        if (receiveKey != null) {
            receives.remove(receiveKey);
        }
    }
}
