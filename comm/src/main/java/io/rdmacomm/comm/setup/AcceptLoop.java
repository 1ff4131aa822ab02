package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.progress.Threads;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The thread that accepts the clients of a server, or the nodes of a mesh. All later clients depend on it, so whatever
/// goes wrong costs one of them.
public final class AcceptLoop<T> {
    private static final Logger LOGGER = System.getLogger(AcceptLoop.class.getPackageName());
    private static final long PAUSE_NANOS = 10_000_000;

    /// Where clients come from.
    public interface Source<T> {
        /// Waits for the next client. Blocks.
        ///
        /// @return null when no more come
        @Nullable
        T next() throws IOException;
    }

    private final Source<T> source;
    private final Consumer<T> welcome;
    private final Thread thread;

    /// Does not accept yet.
    ///
    /// @param name of the thread
    /// @param source where clients come from
    /// @param welcome takes each client; does not block
    public AcceptLoop(String name, Source<T> source, Consumer<T> welcome) {
        this.source = source;
        this.welcome = welcome;
        this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
    }

    /// Begins to accept.
    public void start() {
        thread.start();
    }

    private void run() {
        while (true) {
            try {
                T client = source.next();
                if (client == null) {
                    return;
                }
                welcome.accept(client);
            } catch (IOException | RuntimeException | Error e) {
                // One connection is lost, or there are too many files open, or no memory: the others continue.
                LOGGER.log(Level.WARNING, "a client could not be accepted: " + e);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /// Waits until the thread has ended: its source has no more clients.
    public void join() {
        Threads.join(thread);
    }
}
