package io.rdmacomm.soft.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;

/// The messages to a peer. One that the socket does not take waits here until the engine sends it: the peer's engine
/// may stall, or its process may be stopped, and no thread waits for it. Equal messages wait only once. A
/// [ShmMessage] reports a state, so one of a kind is enough, and no more wait than the peer has objects. A faulty
/// peer that causes more loses some of its messages; other peers do not. Thread-safe.
final class Outbox {
    /// Enough for a few messages about each object of a context.
    static final int MOST = 1 << 16;

    private record Waiting(int type, int number, long first, long second) {}

    private final SocketChannel socket;
    private final ByteBuffer out = ByteBuffer.allocateDirect(ShmMessage.BYTES)
            .order(ByteOrder.nativeOrder())
            .limit(0);
    private final LinkedHashSet<Waiting> waiting = new LinkedHashSet<>();
    private Runnable onWait = () -> {};

    /// @param socket the connection to the peer, non-blocking
    Outbox(SocketChannel socket) {
        this.socket = socket;
    }

    /// Sets the task to run when messages begin to wait for [#flush]. It must not block.
    synchronized void onWait(Runnable task) {
        onWait = task;
    }

    /// Sends a message, now or later. If the connection has ended, [#flush] reports it. Does not block.
    synchronized void send(int type, int number, long first, long second) {
        if (out.hasRemaining()) {
            if (waiting.size() < MOST) {
                waiting.add(new Waiting(type, number, first, second));
            }
            return;
        }
        put(type, number, first, second);
        try {
            socket.write(out);
        } catch (IOException e) {
            // The engine sees the failure, too, and handles the end of the connection.
        }
        if (out.hasRemaining()) {
            onWait.run();
        }
    }

    private void put(int type, int number, long first, long second) {
        out.clear();
        out.putInt(type).putInt(number).putLong(first).putLong(second);
        out.flip();
    }

    /// Sends waiting messages until the socket is full; on the engine's thread.
    ///
    /// @return whether no message waits
    /// @throws IOException if the connection has ended
    synchronized boolean flush() throws IOException {
        while (true) {
            if (out.hasRemaining()) {
                socket.write(out);
            }
            if (out.hasRemaining()) {
                return false;
            }
            if (waiting.isEmpty()) {
                return true;
            }
            Waiting next = waiting.removeFirst();
            put(next.type, next.number, next.first, next.second);
        }
    }

    /// Whether messages wait.
    synchronized boolean isWaiting() {
        return out.hasRemaining();
    }
}
