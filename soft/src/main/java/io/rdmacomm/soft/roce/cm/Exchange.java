package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ConnectionMessage;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/// A message exchange between this side and one peer. Retransmits the last message until it is answered. Under the
/// lock of the manager.
abstract sealed class Exchange permits Conversation, Inquiry {
    private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final int REPEATS = 15;
    /// The gap doubles each time: 4.9 s in all, in which Linux retransmits its request.
    private static final long SPARING_NANOS = TimeUnit.MILLISECONDS.toNanos(700);
    private static final int SPARING_REPEATS = 2;

    final CommunicationManager manager;
    final int id;
    final InetAddress peer;
    final Condition changed;
    private final long transaction;
    private @Nullable ConnectionMessage repeated;
    private int repeatsLeft;
    private long gap;
    private int growth;
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

    /// Sends a message, and retransmits it until [#stopRepeating].
    final void repeat(ConnectionMessage message) {
        repeat(message, REPEATS, REPEAT_NANOS, 1);
    }

    /// Sends a message to an unverified peer. The source of its packets may be forged, so it gets at most three
    /// messages for one of its own.
    final void repeatSparingly(ConnectionMessage message) {
        repeat(message, SPARING_REPEATS, SPARING_NANOS, 2);
    }

    private void repeat(ConnectionMessage message, int times, long firstGap, int growing) {
        repeated = message;
        repeatsLeft = times;
        gap = firstGap;
        growth = growing;
        next = manager.now() + gap;
        send(message);
        manager.schedule(this);
    }

    /// Whether the message was sent as often as allowed.
    final boolean isExhausted() {
        return repeatsLeft == 0;
    }

    /// Sends the present message at once.
    final void repeatNow() {
        ConnectionMessage message = repeated;
        if (message != null) {
            send(message);
        }
    }

    /// The peer has the message, and may take this long to answer. Then it is asked again: it may have forgotten.
    final void bePatient(long nanos) {
        if (repeated != null) {
            repeatsLeft = REPEATS;
            gap = REPEAT_NANOS;
            growth = 1;
            next = manager.now() + nanos;
        }
    }

    final void stopRepeating() {
        repeated = null;
        manager.unschedule(this);
    }

    /// Retransmits the message if it is due.
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
            gap *= growth;
            next = now + gap;
            send(message);
        }
        return next - now;
    }

    /// The peer has answered none of the retransmissions.
    abstract void unanswered();
}
