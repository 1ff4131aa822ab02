package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.BufferSizes;
import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnector;
import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.nio.rsocket.SetupThreads;
import io.rdmacomm.nio.rsocket.SocketDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Connects in the background. Thread-safe.
final class ConnectAttempt {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final SocketDevice device;
    private final InetSocketAddress address;
    private final BufferSizes sizes;
    private final Readiness listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Established established;
    private @Nullable IOException failure;
    private boolean abandoned;

    /// @param listener hears that the attempt has ended
    ConnectAttempt(SocketDevice device, InetSocketAddress address, BufferSizes sizes, Readiness listener) {
        this.device = device;
        this.address = address;
        this.sizes = sizes;
        this.listener = listener;
    }

    void start() {
        SetupThreads.run(this::run);
    }

    private void run() {
        Established result = null;
        IOException cause = null;
        try {
            result = RsConnector.connect(device, address, sizes, PATIENCE);
        } catch (IOException e) {
            cause = e;
        } catch (RuntimeException e) {
            // The device was closed, for example.
            cause = new SocketException("could not connect to " + address + ": " + e.getMessage(), e);
        }
        lock.lock();
        try {
            established = result;
            failure = cause;
            changed.signalAll();
            if (abandoned && result != null) {
                result.connection().abort();
            }
        } finally {
            lock.unlock();
        }
        listener.changed();
    }

    /// Whether it has succeeded or failed.
    boolean isDone() {
        lock.lock();
        try {
            return established != null || failure != null;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the end.
    ///
    /// @param nanos the longest wait
    /// @param wanted whether to go on waiting
    /// @return whether there is one; not after an interrupt, which stays pending, or [#abandon]
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

    /// The connection.
    ///
    /// @throws IOException if the attempt has failed
    Established result() throws IOException {
        lock.lock();
        try {
            Established result = established;
            if (result != null) {
                return result;
            }
            throw failure == null ? new SocketException("not connected yet") : failure;
        } finally {
            lock.unlock();
        }
    }

    /// Nobody waits any more.
    ///
    /// @param taken whether the connection was taken
    void abandon(boolean taken) {
        lock.lock();
        try {
            abandoned = true;
            changed.signalAll();
            Established result = established;
            if (!taken && result != null) {
                result.connection().abort();
            }
        } finally {
            lock.unlock();
        }
    }
}
