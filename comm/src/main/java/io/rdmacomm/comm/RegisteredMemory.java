package io.rdmacomm.comm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.FlightRecorder;

/// The memory that a session has registered, and its limit. Memory that is registered once more, for a peer, counts
/// once. Thread-safe.
final class RegisteredMemory {
    private final String session;
    private final long limit;
    private final AtomicLong bytes = new AtomicLong();

    /// @param session its name
    /// @param limit in bytes
    RegisteredMemory(String session, long limit) {
        this.session = session;
        this.limit = limit;
    }

    /// The number of bytes that are registered now.
    long bytes() {
        return bytes.get();
    }

    /// The limit in bytes; [Long#MAX_VALUE] without one.
    long limit() {
        return limit;
    }

    /// Memory is about to be registered.
    ///
    /// @param buffer the name of the buffer
    /// @throws VerbException ENOMEM if that is more than the limit allows
    void take(long more, String buffer) {
        long before = bytes.get();
        while (before <= limit - more && !bytes.compareAndSet(before, before + more)) {
            before = bytes.get();
        }
        if (before > limit - more) {
            throw new VerbException(
                    "register memory (ibv_reg_mr)",
                    Errno.ENOMEM,
                    "session '" + session + "' has registered " + before + " of at most " + limit
                            + " bytes, too much for the " + more + " bytes of buffer '" + buffer
                            + "'; close buffers or endpoints, or raise the limit (SessionOptions.withMemoryLimit)");
        }
        record(buffer, more, before + more);
    }

    /// Memory is no longer registered.
    void give(long less, String buffer) {
        record(buffer, -less, bytes.addAndGet(-less));
    }

    private void record(String buffer, long change, long registered) {
        if (!FlightRecorder.isInitialized()) {
            return;
        }
        MemoryEvent event = new MemoryEvent();
        if (event.shouldCommit()) {
            event.session = session;
            event.buffer = buffer;
            event.bytes = change;
            event.registered = registered;
            event.limit = limit;
            event.commit();
        }
    }
}
