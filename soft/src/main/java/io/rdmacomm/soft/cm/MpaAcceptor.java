package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaException;
import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.MpaViolation;
import io.rdmacomm.soft.transport.AcceptPause;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.HalfMade;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Listens on a TCP port and collects the requests of MPA initiators, with one thread for all of them. An unknown
/// peer costs at most one connection, and [AcceptLimits] limits their number.
public final class MpaAcceptor implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(MpaAcceptor.class);
    private static final int TCP_BACKLOG = 1024;
    private static final long JOIN_MILLIS = 5_000;

    private final AcceptLimits limits;
    private final IdentifierOptions options;
    private final AcceptCounters counters = new AcceptCounters();
    private final Selector selector;
    private final ServerSocketChannel server;
    private final SelectionKey serverKey;
    private final InetSocketAddress localAddress;
    private final ServiceThread thread;
    private final HalfMade<HalfOpen> halfOpen;
    /// Connections whose request became complete in this turn. Only used by the thread.
    private final List<HalfOpen> complete = new ArrayList<>();

    private final AcceptPause pause = new AcceptPause();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final HalfMade<MpaRequest> waiting;
    private volatile boolean closed;

    /// Listens at `address`; port 0 takes any free one.
    ///
    /// @throws IOException if that is not possible
    public MpaAcceptor(InetSocketAddress address, AcceptLimits limits, IdentifierOptions options) throws IOException {
        this.limits = limits;
        this.options = options;
        this.halfOpen = new HalfMade<>(limits.halfOpen(), limits.halfOpenOfAnOrigin());
        this.waiting = new HalfMade<>(limits.waiting(), limits.waitingOfAnOrigin());
        // IPv6 sockets, the default, accept both families at the wildcard address.
        this.server = options.addressFamilyOnly() && address.getAddress() instanceof Inet4Address
                ? SystemSockets.openServerSocket(StandardProtocolFamily.INET)
                : SystemSockets.openServerSocket();
        try {
            server.configureBlocking(false);
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(address, TCP_BACKLOG);
            this.localAddress = (InetSocketAddress) server.getLocalAddress();
            this.selector = SystemSockets.openSelector();
            this.serverKey = server.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
        LOGGER.prepare();
        this.thread = new ServiceThread("rdmacomm-listener-" + localAddress.getPort(), LOGGER, this::serve, this::end);
        try {
            thread.start();
        } catch (RuntimeException | Error e) {
            // The system has no thread left.
            end();
            throw e;
        }
    }

    /// The address at which it listens.
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /// The counters so far.
    public AcceptCounters counters() {
        return counters;
    }

    /// Whether it accepts no more connections, because it was closed or has failed.
    boolean isEnded() {
        return closed;
    }

    /// Waits for a request.
    ///
    /// @return the request, or null if none came in time, or the listener was closed or has failed
    public @Nullable MpaRequest await(long timeoutNanos) throws InterruptedException {
        long left = timeoutNanos;
        lock.lockInterruptibly();
        try {
            MpaRequest next = next();
            while (next == null && !closed && left > 0) {
                left = changed.awaitNanos(left);
                next = next();
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /// The oldest request whose peer still waits; null if there is none. Under the lock.
    private @Nullable MpaRequest next() {
        for (MpaRequest oldest = waiting.oldest(); oldest != null; oldest = waiting.oldest()) {
            waiting.remove(oldest);
            if (!oldest.isAbandoned()) {
                return oldest;
            }
            counters.vanished.increment();
        }
        return null;
    }

    /// Stops listening, wakes waiting threads, and rejects the requests that were not taken.
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        var _ = thread.join(JOIN_MILLIS);
        List<MpaRequest> left = new ArrayList<>();
        lock.lock();
        try {
            for (MpaRequest each = waiting.oldest(); each != null; each = waiting.oldest()) {
                waiting.remove(each);
                left.add(each);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = Thread.interrupted();
        left.forEach(request -> Closer.step(request, () -> request.reject(new byte[0])));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- The thread ----

    private boolean serve() throws IOException {
        if (closed || !selector.isOpen() || !server.isOpen()) {
            return false;
        }
        try {
            turn();
        } catch (IOException | RuntimeException | Error e) {
            // One bad connection must not end the listener for all others.
            selector.selectedKeys().clear();
            pause.begin(serverKey);
            throw e;
        }
        return true;
    }

    /// Wakes all waiting threads, as this thread has ended for any reason.
    private void end() {
        closed = true;
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        try (selector;
                server) {
            for (HalfOpen each = halfOpen.oldest(); each != null; each = halfOpen.oldest()) {
                halfOpen.remove(each);
                drop(each.channel);
            }
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing the listener", e);
        }
    }

    private void turn() throws IOException {
        select();
        for (SelectionKey key : selector.selectedKeys()) {
            if (!key.isValid()) {
                continue;
            }
            if (key.attachment() instanceof HalfOpen connection) {
                connection.tryRead();
            } else {
                acceptAll();
            }
        }
        selector.selectedKeys().clear();
        dropOverdue();
        if (!complete.isEmpty()) {
            // Only when its cancelled key is gone can a channel join another selector, or close at once.
            selector.selectNow();
            List<HalfOpen> published = List.copyOf(complete);
            complete.clear();
            published.forEach(this::tryPublish);
        }
    }

    private void select() throws IOException {
        long now = System.nanoTime();
        long until = pause.endIfOver();
        HalfOpen oldest = halfOpen.oldest();
        if (oldest != null) {
            until = Math.min(until, Math.max(0, oldest.deadline - now));
        }
        if (until == Long.MAX_VALUE) {
            selector.select();
        } else {
            selector.select(TimeUnit.NANOSECONDS.toMillis(until) + 1);
        }
    }

    private void acceptAll() {
        try {
            for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
                counters.accepted.increment();
                admit(channel);
            }
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot accept now: {0}", e.toString());
            pause.begin(serverKey);
        }
    }

    private void admit(SocketChannel channel) {
        try {
            channel.configureBlocking(false);
            SocketOptions.set(channel, options);
            InetAddress from = ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
            HalfOpen oldest = halfOpen.givingWay(from);
            if (oldest != null) {
                // Its request may have arrived since the last read: only a silent connection is displaced.
                oldest.tryRead();
            }
            HalfOpen connection = new HalfOpen(channel);
            connection.key = channel.register(selector, SelectionKey.OP_READ, connection);
            HalfOpen displaced = halfOpen.add(connection, from);
            if (displaced != null) {
                counters.displaced.increment();
                drop(displaced.channel);
            }
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection is closed", e);
            counters.vanished.increment();
            drop(channel);
        }
    }

    private void dropOverdue() {
        long now = System.nanoTime();
        for (HalfOpen oldest = halfOpen.oldest();
                oldest != null && now - oldest.deadline >= 0;
                oldest = halfOpen.oldest()) {
            counters.timeouts.increment();
            halfOpen.remove(oldest);
            drop(oldest.channel);
        }
    }

    /// An error ends only this connection: the other complete ones must still be published.
    private void tryPublish(HalfOpen connection) {
        try {
            publish(connection);
        } catch (RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.WARNING, "a connection is closed after an unexpected failure", e);
            drop(connection.channel);
        }
    }

    private void publish(HalfOpen connection) {
        MpaRequest request;
        try {
            request = new MpaRequest(connection.channel, connection.reader.frame());
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection is closed", e);
            counters.vanished.increment();
            drop(connection.channel);
            return;
        }
        try {
            MpaNegotiation.check(request.frame());
        } catch (MpaException e) {
            counters.violations.increment();
            request.reject(new byte[0]);
            return;
        }
        counters.requests.increment();
        MpaRequest displaced = offer(request);
        if (displaced != null) {
            counters.overflows.increment();
            displaced.reject(new byte[0]);
        }
    }

    /// Queues a request for the program, for however long that takes: its peer decides when to give up.
    ///
    /// @return the request that cannot wait; null if there is room
    private @Nullable MpaRequest offer(MpaRequest request) {
        lock.lock();
        try {
            if (closed) {
                return request;
            }
            MpaRequest displaced = waiting.add(request, request.remoteAddress().getAddress());
            changed.signal();
            return displaced;
        } finally {
            lock.unlock();
        }
    }

    private static void drop(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a connection", e);
        }
    }

    /// A connection whose request is incomplete.
    private final class HalfOpen {
        private final SocketChannel channel;
        private final MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REQUEST);
        private final long deadline = System.nanoTime() + limits.requestNanos();
        private @Nullable SelectionKey key;

        HalfOpen(SocketChannel channel) {
            this.channel = channel;
        }

        private void read() {
            try {
                while (!reader.advance()) {
                    int count = channel.read(reader.buffer());
                    if (count < 0) {
                        leave(counters.vanished);
                        return;
                    }
                    if (count == 0) {
                        return;
                    }
                }
                halfOpen.remove(this);
                if (key != null) {
                    key.cancel();
                }
                complete.add(this);
            } catch (MpaException e) {
                MpaViolation violation = e.violation();
                LOGGER.log(System.Logger.Level.DEBUG, "a connection is closed: the peer {0}", violation);
                leave(counters.violations);
            } catch (IOException e) {
                leave(counters.vanished);
            }
        }

        /// Reads what has arrived. An error ends only this connection, and must not delay the others that are
        /// ready.
        void tryRead() {
            try {
                read();
            } catch (RuntimeException | Error e) {
                LOGGER.log(System.Logger.Level.WARNING, "a connection is closed after an unexpected failure", e);
                leave(counters.vanished);
            }
        }

        private void leave(LongAdder counter) {
            counter.increment();
            halfOpen.remove(this);
            drop(channel);
        }
    }
}
