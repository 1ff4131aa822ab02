package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.statistics.MemoryRoom;
import java.util.concurrent.atomic.AtomicLong;

/// The limit for the memory of all connections of a device. Thread-safe.
final class MemoryBudget {
    private static final String PROPERTY = "io.rdmacomm.nio.memory";

    private final long limit;
    private final AtomicLong used = new AtomicLong();

    /// @param limit in bytes
    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /// The limit in the system property, or half of the memory that this process can still allocate.
    ///
    /// @throws VerbException EINVAL if the property is not a number of bytes
    static MemoryBudget ofProcess() {
        String text = System.getProperty(PROPERTY, "");
        if (text.isEmpty()) {
            return new MemoryBudget(MemoryRoom.left().bytes() / 2);
        }
        try {
            return new MemoryBudget(Long.parseUnsignedLong(text));
        } catch (NumberFormatException e) {
            throw new VerbException(
                    "open sockets", Errno.EINVAL, "'" + text + "' in -D" + PROPERTY + " is not a number of bytes", e);
        }
    }

    /// The most bytes that connections may have.
    long limit() {
        return limit;
    }

    /// Takes memory for a connection.
    ///
    /// @throws VerbException ENOBUFS if there is not enough left; the message says what to do
    void take(long bytes) {
        if (!take(bytes, limit)) {
            throw new VerbException(
                    "allocate buffers of a socket",
                    Errno.ENOBUFS,
                    bytes + " bytes more than the " + used.get() + " that sockets have would exceed their limit of "
                            + limit + "; close some, set smaller SO_RCVBUF and SO_SNDBUF, or raise -D" + PROPERTY);
        }
    }

    /// Takes memory that a connection can do without, if connections have at most half of the limit then: the rest is
    /// for new ones.
    ///
    /// @return whether it was taken
    boolean takeSpare(long bytes) {
        return take(bytes, limit / 2);
    }

    private boolean take(long bytes, long most) {
        long before = used.get();
        while (before <= most - bytes) {
            if (used.compareAndSet(before, before + bytes)) {
                return true;
            }
            before = used.get();
        }
        return false;
    }

    /// Returns the memory of a connection.
    void giveBack(long bytes) {
        used.addAndGet(-bytes);
    }
}
