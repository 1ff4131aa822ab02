package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The thread that accepts the clients of a server. All later clients depend on this thread, so a failure affects
/// only the client that caused it.
public final class AcceptLoop<T> {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(AcceptLoop.class);

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
    private final ServiceThread thread;

    /// Does not accept yet.
    ///
    /// @param name of the thread
    /// @param source where clients come from
    /// @param welcome receives each client; does not block
    /// @param onEnd called by the thread when no more clients come
    public AcceptLoop(String name, Source<T> source, Consumer<T> welcome, Runnable onEnd) {
        this.source = source;
        this.welcome = welcome;
        // Now, because the first log message may come after strangers have used up all file descriptors.
        LOGGER.prepare();
        this.thread = new ServiceThread(name, LOGGER, this::serve, onEnd);
    }

    /// Begins to accept.
    public void start() {
        var _ = thread.start();
    }

    private boolean serve() throws IOException {
        T client = source.next();
        if (client == null) {
            return false;
        }
        welcome.accept(client);
        return true;
    }

    /// Waits until the thread has ended: its source has no more clients.
    public void join() {
        thread.join();
    }
}
