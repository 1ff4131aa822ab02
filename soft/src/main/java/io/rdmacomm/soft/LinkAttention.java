package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.Engine;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;

/// Who drives a link: the threads that poll its completion queues, or else the engine. The engine sees everything
/// that comes; while somebody polls it lets go of the link, and looks again a little later. Where a stream comes
/// in, the engine reads the link directly, as a polling thread does, until nothing has come for a while.
final class LinkAttention implements Engine.Ready {
    private static final System.Logger LOGGER = System.getLogger(LinkAttention.class.getName());
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    private final Link link;
    private final SoftQueuePair queuePair;
    private final SoftCompletionQueue sends;
    private final SoftCompletionQueue receives;
    private final LinkWatch watch;
    private final LinkPolling.Wish ofSends;
    private final LinkPolling.Wish ofReceives;
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

    LinkAttention(Link link, SoftQueuePair queuePair) {
        this.link = link;
        this.queuePair = queuePair;
        this.sends = queuePair.sendCompletions();
        this.receives = queuePair.receiveCompletions();
        this.watch = queuePair.context().links().watch();
        this.ofSends = new LinkPolling.Wish(link);
        this.ofReceives = receives.equals(sends) ? ofSends : new LinkPolling.Wish(link);
    }

    /// Begins to be watched.
    void open() throws IOException {
        sendKey = sends.links().add(link);
        receiveKey = receives.equals(sends) ? null : receives.links().add(link);
        engineKey = watch.register(link.channel(), READ, this);
        watch.add(this);
    }

    Link link() {
        return link;
    }

    // ---- Polling threads ----

    /// Drives the link, unless another thread does.
    ///
    /// @return whether something came in
    boolean tryDrive() {
        if (!queuePair.tryLockSends()) {
            return false;
        }
        try {
            unfinished = false;
            boolean came = link.drive(false);
            if (!deferred && !link.isQuiet()) {
                // Should nobody poll again soon, the engine tells the peer.
                wanted();
            }
            return came;
        } finally {
            queuePair.unlockSends();
        }
    }

    boolean isHot(LinkPolling polling) {
        return polling.equals(sends.links()) ? hotInSends : hotInReceives;
    }

    /// Whether a polling thread reads the link directly now, so that it need not be told of it.
    void hot(LinkPolling polling, boolean now) {
        boolean forSends = polling.equals(sends.links());
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
            // It was needed, or is since a moment ago.
            polling.want(forSends ? ofSends : ofReceives);
        }
    }

    /// The link has something to send that the socket did not take yet. Whoever holds the send lock.
    void wanted() {
        unfinished = true;
        if (deferred || polled().isPolled()) {
            wish();
        }
        SelectionKey key = engineKey;
        // Also on the engine's own thread: it drives a link not only because its socket is ready.
        if (key != null
                && !deferred
                && key.isValid()
                && (key.interestOpsOr(WRITE) & WRITE) == 0
                && !watch.isCurrentThread()) {
            watch.wakeup();
        }
    }

    /// The completion queue that was polled last.
    private LinkPolling polled() {
        boolean forSends = receiveKey == null
                || sends.links().lastPoll() - receives.links().lastPoll() >= 0;
        return forSends ? sends.links() : receives.links();
    }

    /// Has the thread that polls drive the link, although nothing comes in.
    private void wish() {
        LinkPolling polling = polled();
        if (!isHot(polling)) {
            polling.want(polling.equals(sends.links()) ? ofSends : ofReceives);
        }
    }

    private boolean isPolled(long now) {
        long last = sends.links().lastPoll();
        if (receiveKey != null) {
            last = Math.max(last, receives.links().lastPoll());
        }
        return now - last < LinkWatch.TICK_NANOS && !sends.isArmed() && !receives.isArmed();
    }

    // ---- The engine ----

    @Override
    public void ready(SelectionKey key) {
        // The engine may be here before the thread that registers the channel has its key.
        engineKey = key;
        long now = System.nanoTime();
        if (link.isClosed()) {
            // Its channel is being closed, or somebody else's already.
            return;
        }
        if (isPolled(now)) {
            defer(key, now + LinkWatch.TICK_NANOS);
        } else {
            drive(key, now);
        }
    }

    private void drive(SelectionKey key, long now) {
        if (!queuePair.tryLockSends()) {
            defer(key, now + LinkWatch.LOCKED_NANOS);
            return;
        }
        try {
            unfinished = false;
            if (link.drive(true) && link.isStreaming()) {
                streaming = true;
                streamsUntil = System.nanoTime() + LinkWatch.STREAM_NANOS;
            } else if (now - streamsUntil >= 0) {
                streaming = false;
            }
            if (key.isValid() && !link.isClosed()) {
                // With the lock: what the next holder wants is not to be forgotten.
                setInterest(key, (streaming ? 0 : READ) | (unfinished ? WRITE : 0));
            }
        } finally {
            queuePair.unlockSends();
        }
        if (streaming && !readOn) {
            readOn = true;
            watch.readOn(this);
        }
    }

    /// A key that is set is looked at by the selector, changed or not.
    private static void setInterest(SelectionKey key, int operations) {
        if (key.interestOps() != operations) {
            key.interestOps(operations);
        }
    }

    /// Reads a stream on without asking the selector: it is the sender that would pay for the wait, and also for
    /// each time that its bytes wake a selector up.
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
            // Those who poll see what comes in. That the socket takes more, nobody would tell them.
            wish();
        }
        if (!listed) {
            listed = true;
            watch.defer(this);
        }
    }

    /// Looks again at a link that was let go of.
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
            due = now + LinkWatch.TICK_NANOS;
            return due;
        }
        deferred = false;
        drive(key, now);
        listed = deferred;
        return deferred ? due : 0;
    }

    /// Reminds the peer, or gives it up if it is silent for too long.
    void checkTime(long now) {
        if (link.isWaiting() || link.isBlocked() || !link.isQuiet() || link.isToRemind()) {
            if (queuePair.tryLockSends()) {
                try {
                    link.checkTime(now, queuePair.sends().policy().patienceNanos());
                } finally {
                    queuePair.unlockSends();
                }
            }
        } else {
            link.touch(now);
        }
    }

    /// Ends being watched.
    void close() {
        if (sendKey != null) {
            sends.links().remove(sendKey);
        }
        if (receiveKey != null) {
            receives.links().remove(receiveKey);
        }
    }
}
