package io.rdmacomm.nio.rsocket;

import io.rdmacomm.nio.rsocket.Handshakes.Handshake;
import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Accepts rsockets in the background, so that a peer's connect succeeds before the program accepts, as with TCP.
/// Thread-safe.
public final class RsListener implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(RsListener.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration TURN = Duration.ofMinutes(1);
    private static final Set<Errno> SHORTAGES = Set.of(Errno.ENOBUFS, Errno.ENOMEM, Errno.EMFILE, Errno.ENFILE);

    private final SocketDevice device;
    private final BufferSizes sizes;
    private final Listener<ConnectionRequest> listener;
    private final int backlog;
    private final Handshakes handshakes;
    private final ServiceThread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Condition room = lock.newCondition();
    private final Deque<Established> accepted = new ArrayDeque<>();
    private final Listeners listeners = new Listeners();
    private final AtomicLong warned = new AtomicLong(System.nanoTime() - TURN.toNanos());
    private volatile boolean closed;

    private RsListener(SocketDevice device, Listener<ConnectionRequest> listener, int backlog, BufferSizes sizes) {
        this.device = device;
        this.listener = listener;
        this.sizes = sizes;
        this.backlog = backlog;
        this.handshakes = new Handshakes(
                (long) sizes.receive() + sizes.send(), device.pool().limit());
        this.thread =
                new ServiceThread("rsocket-accept-" + listener.localAddress().getPort(), LOGGER, this::serve);
    }

    /// Listens.
    ///
    /// @param address the local address; port 0 for any
    /// @param backlog the limit of established connections that wait to be accepted; at the limit, requests wait
    /// @throws BindException if the port is in use, or the address does not belong to the device
    public static RsListener open(SocketDevice device, InetSocketAddress address, int backlog, BufferSizes sizes)
            throws SocketException {
        try {
            RsListener opened = new RsListener(device, device.manager().listen(address, backlog), backlog, sizes);
            var _ = opened.thread.start();
            return opened;
        } catch (VerbException e) {
            throw SocketFailures.ofListening(e);
        }
    }

    /// The address, with the actual port.
    public InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    private boolean serve() throws InterruptedException {
        if (!awaitTurn()) {
            return false;
        }
        ConnectionRequest request = null;
        try {
            request = closed ? null : listener.awaitRequest(TURN);
        } catch (IllegalStateException e) {
            // The listener was closed.
        }
        if (request != null) {
            begin(new Handshake(request));
        }
        return !closed;
    }

    /// Waits until another handshake may begin: the backlog of established connections has room, and not too many
    /// handshakes have their turn. Requests wait meanwhile.
    ///
    /// @return false if the listener was closed
    private boolean awaitTurn() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed) {
                long wait = accepted.size() < backlog ? handshakes.untilTurn(System.nanoTime()) : TURN.toNanos();
                if (wait <= 0) {
                    return true;
                }
                var _ = room.awaitNanos(wait);
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void begin(Handshake handshake) throws InterruptedException {
        boolean begun = false;
        try {
            if (takePlace(handshake)) {
                SetupThreads.run(() -> accept(handshake));
                begun = true;
            }
        } finally {
            if (!begun) {
                ended(handshake, false);
                handshake.request().close();
            }
        }
    }

    /// Waits until there is room, or another handshake may be displaced.
    ///
    /// @return false if it is closed
    private boolean takePlace(Handshake handshake) throws InterruptedException {
        lock.lock();
        try {
            long wait = handshakes.untilPlace(handshake.peer(), System.nanoTime());
            while (wait > 0 && !closed) {
                var _ = room.awaitNanos(wait);
                wait = handshakes.untilPlace(handshake.peer(), System.nanoTime());
            }
            Handshake displaced = closed ? null : handshakes.begin(handshake);
            if (displaced != null) {
                end(displaced);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /// Ends a displaced handshake.
    private static void end(Handshake displaced) {
        LOGGER.log(Level.DEBUG, "{0} is displaced: its peer is silent", displaced.request());
        Thread.ofVirtual().name("rsocket-close").start(displaced.request()::close);
    }

    private void accept(Handshake handshake) {
        ConnectionRequest request = handshake.request();
        boolean complete = false;
        try {
            Established established = RsConnector.accept(device, request, sizes, TIMEOUT, handshake::answered);
            complete = true;
            keep(established);
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(
                    isShortage(e) ? Level.WARNING : Level.DEBUG,
                    () -> "the connection of " + request.remoteAddress() + " was not accepted: " + e);
        } finally {
            ended(handshake, complete);
        }
    }

    private void ended(Handshake handshake, boolean complete) {
        lock.lock();
        try {
            handshakes.end(handshake, complete, System.nanoTime());
            room.signal();
        } finally {
            lock.unlock();
        }
    }

    /// Whether this side has run out of a resource. True at most once a minute, so that a peer cannot fill a log.
    private boolean isShortage(Throwable failure) {
        boolean shortage = failure instanceof Error
                || (failure.getCause() instanceof VerbException cause && SHORTAGES.contains(cause.errno()));
        if (!shortage) {
            return false;
        }
        long now = System.nanoTime();
        long last = warned.get();
        return now - last >= TURN.toNanos() && warned.compareAndSet(last, now);
    }

    private void keep(Established established) {
        lock.lock();
        try {
            if (closed) {
                established.connection().abort();
                return;
            }
            accepted.add(established);
            changed.signal();
        } finally {
            lock.unlock();
        }
        listeners.changed();
    }

    /// The next connection; null if there is none.
    public @Nullable Established poll() {
        lock.lock();
        try {
            Established next = accepted.poll();
            if (next != null) {
                room.signal();
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /// Whether [#poll()] would find a connection.
    public boolean isReady() {
        lock.lock();
        try {
            return !accepted.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until a connection can be taken, or the listener is closed.
    ///
    /// @param nanos the longest wait
    /// @return whether one can be taken; false after an interrupt, which stays pending
    public boolean await(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (accepted.isEmpty() && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            return !accepted.isEmpty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /// Notifies a listener of each new connection from now on.
    public void add(Readiness listening) {
        listeners.add(listening);
    }

    /// Stops notifying a listener.
    public void remove(Readiness listening) {
        listeners.remove(listening);
    }

    /// Stops listening, and resets the connections that were not taken.
    @Override
    public void close() {
        List<Established> left;
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            left = List.copyOf(accepted);
            accepted.clear();
            for (Handshake each = handshakes.poll(); each != null; each = handshakes.poll()) {
                Handshake handshake = each;
                Closer.step(handshake, () -> end(handshake));
            }
            room.signal();
        } finally {
            lock.unlock();
        }
        Closer.step(listener, listener::close);
        thread.interrupt();
        for (Established waiting : left) {
            Closer.step(waiting, () -> Thread.ofVirtual().name("rsocket-close").start(waiting.connection()::abort));
        }
    }

    @Override
    public String toString() {
        return "rsockets at " + localAddress() + " on " + device;
    }
}
