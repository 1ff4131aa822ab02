package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.transport.Engine;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.stream.Stream;

/// The sockets of a context, and which of its threads receive from them: threads that poll, or the engine when no
/// thread has polled for a moment or one is about to sleep. Thread-safe.
final class SocketReceivers {
    private static final int POLL_PACKETS = 16;

    private final Engine engine;
    /// For the sockets of the node and of groups; replaced as a whole.
    private volatile SocketWatch[] watches = {};

    private volatile long lastPoll = System.nanoTime() - SocketWatch.ATTENDED_NANOS;
    private volatile boolean armed;

    SocketReceivers(Engine engine) {
        this.engine = engine;
    }

    /// Begins to receive from a socket.
    ///
    /// @throws ClosedChannelException if the socket is closed
    void watch(PacketReader reader) throws ClosedChannelException {
        SocketWatch added = new SocketWatch(this::isAttended, engine, reader);
        synchronized (this) {
            watches = Stream.concat(Arrays.stream(watches), Stream.of(added)).toArray(SocketWatch[]::new);
        }
    }

    /// Stops receiving from a socket, which the engine releases soon.
    void unwatch(PacketReader reader) {
        synchronized (this) {
            Arrays.stream(watches).filter(each -> each.reader().equals(reader)).forEach(SocketWatch::stop);
            watches = Arrays.stream(watches)
                    .filter(each -> !each.reader().equals(reader))
                    .toArray(SocketWatch[]::new);
        }
        engine.wakeup();
    }

    /// Receives packets, on a thread that has polled a completion queue and found nothing.
    ///
    /// @param sleeps whether the queue is armed, so that the thread is likely to sleep next
    void poll(boolean sleeps) {
        if (!sleeps) {
            lastPoll = System.nanoTime();
            armed = false;
        }
        for (SocketWatch each : watches) {
            each.reader().receive(POLL_PACKETS);
        }
    }

    /// A completion queue was armed: incoming packets must wake up the thread that waits for it.
    void armed() {
        armed = true;
        for (SocketWatch each : watches) {
            if (each.isLeft()) {
                engine.wakeup();
            }
        }
    }

    private boolean isAttended() {
        return !armed && System.nanoTime() - lastPoll < SocketWatch.ATTENDED_NANOS;
    }

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        long next = Long.MAX_VALUE;
        for (SocketWatch each : watches) {
            next = Math.min(next, each.onTime());
        }
        return next;
    }

    /// Stops receiving.
    void stop() {
        for (SocketWatch each : watches) {
            each.stop();
        }
    }
}
