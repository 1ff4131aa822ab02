package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnector;
import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.nio.rsocket.SetupThreads;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Connects in the background; over TCP if the device cannot and the rules allow it. Thread-safe.
final class ConnectAttempt {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /// A peer without RDMA may not answer at all.
    private static final Duration TIMEOUT_BEFORE_TCP = Duration.ofSeconds(5);

    private final RdmaService service;
    private final Family family;
    private final @Nullable PortReservation reservation;
    private final SocketOptionValues options;
    private final Readiness listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Established established;
    /// The JDK's channel if the device could not connect; it may still be connecting.
    private @Nullable SocketChannel ordinary;
    private @Nullable IOException failure;
    private boolean done;
    private boolean abandoned;

    /// @param family the family of a TCP socket
    /// @param reservation the local address; null for any
    /// @param listener notified when the attempt has ended
    ConnectAttempt(
            RdmaService service,
            Family family,
            @Nullable PortReservation reservation,
            SocketOptionValues options,
            Readiness listener) {
        this.service = service;
        this.family = family;
        this.reservation = reservation;
        this.options = options;
        this.listener = listener;
    }

    void start() {
        SetupThreads.run(this::run);
    }

    private void run() {
        try {
            connect();
        } catch (IOException e) {
            end(null, e);
        } catch (RuntimeException | Error e) {
            // For example, the device was closed or memory ran out. A thread may be waiting for the end.
            end(null, new SocketException("could not connect to " + service.address() + ": " + e, e));
        }
        listener.changed();
    }

    private void connect() throws IOException {
        InetSocketAddress address = service.address();
        InetSocketAddress local = reservation == null ? null : reservation.release(address.getAddress());
        Established result;
        try {
            result = RsConnector.connect(
                    service.device(),
                    address,
                    identifierOptions(local),
                    options.sizes(),
                    service.orTcp() ? TIMEOUT_BEFORE_TCP : TIMEOUT);
        } catch (IOException e) {
            service.failed(e);
            connectOrdinary(local);
            return;
        }
        service.succeeded();
        end(result, null);
    }

    private IdentifierOptions identifierOptions(@Nullable InetSocketAddress local) {
        int type = options.number(StandardSocketOptions.IP_TOS);
        IdentifierOptions identifier = IdentifierOptions.none();
        if (type != 0 && service.device().hasTypeOfService()) {
            identifier = identifier.withTypeOfService(type);
        }
        return local == null ? identifier : identifier.withLocalAddress(local);
    }

    private void connectOrdinary(@Nullable InetSocketAddress local) throws IOException {
        SocketChannel channel = family.openSocket();
        lock.lock();
        try {
            ordinary = channel;
            if (abandoned) {
                channel.close();
            }
        } finally {
            lock.unlock();
        }
        boolean connected = false;
        try {
            options.applyTo(channel);
            if (local != null) {
                channel.bind(local);
            }
            connected = channel.connect(service.address());
        } finally {
            if (!connected) {
                channel.close();
            }
        }
        end(null, null);
    }

    private void end(@Nullable Established result, @Nullable IOException cause) {
        lock.lock();
        try {
            established = result;
            failure = cause;
            done = true;
            changed.signalAll();
            if (abandoned && result != null) {
                result.connection().abort();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Whether it has succeeded or failed.
    boolean isDone() {
        lock.lock();
        try {
            return done;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the end.
    ///
    /// @param nanos the longest wait
    /// @param wanted whether to keep waiting
    /// @return whether the attempt has ended; false after an interrupt, which stays pending, or [#abandon]
    boolean await(long nanos, BooleanSupplier wanted) throws SocketTimeoutException {
        lock.lock();
        try {
            long left = nanos;
            while (!isDone() && !abandoned && wanted.getAsBoolean()) {
                if (left <= 0) {
                    throw new SocketTimeoutException("Connect timed out");
                }
                left = changed.awaitNanos(left);
            }
            return isDone();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /// The connection; null if it is [#ordinary()].
    ///
    /// @throws IOException if the attempt has failed
    @Nullable
    Established result() throws IOException {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
            if (!done) {
                throw new SocketException("not connected yet");
            }
            return established;
        } finally {
            lock.unlock();
        }
    }

    /// The JDK's channel that has connected.
    SocketChannel ordinary() {
        lock.lock();
        try {
            return Objects.requireNonNull(ordinary);
        } finally {
            lock.unlock();
        }
    }

    /// Closes whatever the attempt has connected or will connect, unless the channel has taken it.
    ///
    /// @param taken whether the connection was taken
    /// @throws IOException if a channel of the JDK cannot be closed
    void abandon(boolean taken) throws IOException {
        lock.lock();
        try {
            abandoned = true;
            changed.signalAll();
            Established result = established;
            SocketChannel channel = ordinary;
            if (!taken && result != null) {
                result.connection().abort();
            }
            if (!taken && channel != null) {
                channel.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
