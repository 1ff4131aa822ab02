package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ServiceReply;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// This side's request for the queue pair of a datagram service (IBTA 12.11). Thread-safe.
public final class Inquiry extends Exchange implements AutoCloseable {
    private @Nullable ServiceReply reply;
    private boolean over;

    Inquiry(CommunicationManager manager, int id, InetAddress peer) {
        super(manager, id, peer, manager.newTransaction());
    }

    /// Waits for the answer.
    ///
    /// @return null after the timeout, or if no answer will come
    public @Nullable ServiceReply await(long timeoutNanos) throws InterruptedException {
        manager.lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (reply == null && !over && left > 0) {
                left = changed.awaitNanos(left);
            }
            return reply;
        } finally {
            manager.lock.unlock();
        }
    }

    /// Whether the peer has not answered although it was asked often enough. Call it without the lock.
    public boolean isUnanswered() {
        manager.lock.lock();
        try {
            return over && reply == null;
        } finally {
            manager.lock.unlock();
        }
    }

    void received(ServiceReply message) {
        if (reply == null) {
            reply = message;
            stopRepeating();
            changed.signalAll();
        }
    }

    @Override
    void unanswered() {
        over = true;
        changed.signalAll();
    }

    /// Ends the inquiry, and wakes waiting threads.
    @Override
    public void close() {
        manager.lock.lock();
        try {
            stopRepeating();
            manager.forget(this);
            unanswered();
        } finally {
            manager.lock.unlock();
        }
    }
}
