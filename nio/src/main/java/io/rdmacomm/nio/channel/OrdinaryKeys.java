package io.rdmacomm.nio.channel;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The channels of the JDK in a selector of ours: they are registered in a selector of the JDK as well. While the
/// selecting thread waits for RDMA connections, a helper thread waits here. Used by one thread at a time, except
/// for [#register] and [#wakeup].
final class OrdinaryKeys implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(OrdinaryKeys.class);

    private final Selector inner;
    private final Runnable onReady;
    private final Semaphore asked = new Semaphore(0);
    private final Semaphore answered = new Semaphore(0);
    private @Nullable ServiceThread helper;
    private volatile boolean closed;

    /// @param onReady called by the helper when a channel is ready
    OrdinaryKeys(Runnable onReady) throws IOException {
        this.inner = SystemSockets.openSelector();
        this.onReady = onReady;
    }

    /// Registers a channel for a key of ours. The channel is either the program's own or works for a channel of
    /// ours.
    void register(AbstractSelectableChannel channel, RdmaSelectionKey key) throws IOException {
        int ops = key.interest() & channel.validOps();
        boolean known = key.rdma() == null;
        key.setOrdinary(known ? InnerSelectors.register(channel, inner, ops, key) : channel.register(inner, ops, key));
    }

    /// Removes a channel after its key of ours was deregistered. That order matters: a closed channel releases its
    /// socket only when all its keys are gone.
    void remove(SelectionKey key) {
        key.cancel();
    }

    /// Whether no channel is registered.
    boolean isEmpty() {
        return inner.keys().isEmpty();
    }

    /// Passes on a change of interest.
    static void update(RdmaSelectionKey key, SelectionKey inner) {
        try {
            inner.interestOps(key.interest() & inner.channel().validOps());
        } catch (CancelledKeyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "the channel was closed meanwhile", e);
        }
    }

    /// Passes the ready keys to `action`, without waiting.
    void selectNow(Consumer<SelectionKey> action) throws IOException {
        var _ = inner.selectNow(action);
    }

    /// Waits until something is ready, [#wakeup] is called, or the time is up.
    ///
    /// @param millis 0 for no limit
    void select(long millis, Consumer<SelectionKey> action) throws IOException {
        var _ = inner.select(action, millis);
    }

    /// Ends a wait; any thread.
    void wakeup() {
        inner.wakeup();
    }

    /// Makes the helper wait.
    void startWaiting() {
        ServiceThread thread = helper;
        if (thread == null) {
            thread = new ServiceThread("rdma-selector", LOGGER, this::serve);
            helper = thread;
            var _ = thread.start();
        }
        asked.release();
    }

    /// Ends the wait of the helper.
    void stopWaiting() {
        inner.wakeup();
        answered.acquireUninterruptibly();
    }

    private boolean serve() throws InterruptedException {
        if (!asked.tryAcquire(1, TimeUnit.MINUTES)) {
            return !closed;
        }
        boolean ready = false;
        try {
            ready = !closed && inner.select() > 0;
            // The selecting thread finds them again.
            inner.selectedKeys().clear();
        } catch (ClosedSelectorException | IOException e) {
            LOGGER.log(System.Logger.Level.TRACE, "the selector was closed meanwhile", e);
        } finally {
            if (ready) {
                onReady.run();
            }
            answered.release();
        }
        return !closed;
    }

    @Override
    public void close() throws IOException {
        closed = true;
        inner.close();
        asked.release();
    }
}
