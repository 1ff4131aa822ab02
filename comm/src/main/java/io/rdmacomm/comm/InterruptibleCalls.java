package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Blocking calls that end when they are interrupted. [#close()] interrupts their threads and waits until all
/// have ended. Thread-safe.
final class InterruptibleCalls implements AutoCloseable {
    private final String owner;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private final Set<Thread> threads = new HashSet<>();
    private boolean closed;

    /// @param owner the name in the exception of calls that end because this was closed
    InterruptibleCalls(String owner) {
        this.owner = owner;
    }

    /// Makes a call on this thread.
    ///
    /// @throws ClosedException if this was closed before the call or is closed during it
    <T> T run(Supplier<T> call) {
        begin();
        try {
            return call.get();
        } catch (RdmaException e) {
            throw isClosed() ? closedException(e) : e;
        } finally {
            end();
        }
    }

    private void begin() {
        lock.lock();
        try {
            if (closed) {
                throw closedException(null);
            }
            threads.add(Thread.currentThread());
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        lock.lock();
        try {
            threads.remove(Thread.currentThread());
            if (closed) {
                // The interrupt came from close(): clear it.
                var _ = Thread.interrupted();
            }
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private ClosedException closedException(@Nullable Throwable cause) {
        return new ClosedException(owner + " is closed", cause);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            threads.forEach(Thread::interrupt);
            while (!threads.isEmpty()) {
                ended.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }
}
