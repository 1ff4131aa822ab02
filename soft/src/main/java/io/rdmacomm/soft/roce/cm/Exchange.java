package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ConnectionMessage;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/// Messages that belong together, between this side and one peer: repeats the last one until it is answered. Under the
/// lock of the manager.
abstract sealed class Exchange permits Conversation, Inquiry {
    private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final int REPEATS = 15;

    final CommunicationManager manager;
    final int id;
    final InetAddress peer;
    final Condition changed;
    private final long transaction;
    private @Nullable ConnectionMessage repeated;
    private int repeatsLeft;
    private long next;

    /// @param id of this side
    /// @param transaction of the messages
    Exchange(CommunicationManager manager, int id, InetAddress peer, long transaction) {
        this.manager = manager;
        this.id = id;
        this.peer = peer;
        this.transaction = transaction;
        this.changed = manager.lock.newCondition();
    }

    /// Sends a message once.
    final void send(ConnectionMessage message) {
        manager.send(peer, transaction, message);
    }

    /// Sends a message, and again until [#stopRepeating].
    final void repeat(ConnectionMessage message) {
        repeated = message;
        repeatsLeft = REPEATS;
        next = manager.now() + REPEAT_NANOS;
        send(message);
        manager.schedule(this);
    }

    /// Sends the present message at once.
    final void repeatNow() {
        ConnectionMessage message = repeated;
        if (message != null) {
            send(message);
        }
    }

    /// The peer has the message, and answers within this time.
    final void bePatient(long nanos) {
        if (repeated != null) {
            repeatsLeft = 0;
            next = manager.now() + nanos;
        }
    }

    final void stopRepeating() {
        repeated = null;
        manager.unschedule(this);
    }

    /// Repeats the message if it is time to.
    ///
    /// @return nanoseconds until the next call is due
    final long onTime(long now) {
        ConnectionMessage message = repeated;
        if (message == null) {
            return Long.MAX_VALUE;
        }
        if (now - next >= 0) {
            if (repeatsLeft == 0) {
                stopRepeating();
                unanswered();
                return Long.MAX_VALUE;
            }
            repeatsLeft--;
            next = now + REPEAT_NANOS;
            send(message);
        }
        return next - now;
    }

    /// The peer has not answered any of the messages.
    abstract void unanswered();
}
