package io.rdmacomm.nio.rsocket;

import io.rdmacomm.soft.iwarp.MpaNegotiation;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// Callers who send a right request for an rsocket and then nothing more. Who is turned away calls again.
final class Strangers implements AutoCloseable {
    /// What an rsocket sends first.
    static final byte[] RSOCKET_DATA = new ConnectionData(64, 0, 4096, 7, 2, 4096, 7, 8192, false).bytes(40);

    private final InetSocketAddress listener;
    private final List<SocketChannel> channels = new ArrayList<>();
    private final ByteBuffer input = ByteBuffer.allocateDirect(1024);
    private final Thread thread;
    private volatile boolean closed;

    /// Calls a listener.
    ///
    /// @param count how many connections they keep open
    Strangers(InetSocketAddress listener, int count) throws IOException {
        this.listener = listener;
        for (int i = 0; i < count; i++) {
            channels.add(call());
        }
        this.thread = Thread.ofPlatform().daemon().start(this::stay);
    }

    private SocketChannel call() throws IOException {
        SocketChannel channel = SocketChannel.open(listener);
        channel.write(new MpaNegotiation(false, 16, 16)
                .request(RSOCKET_DATA)
                .askingForHandshake()
                .encode());
        channel.configureBlocking(false);
        return channel;
    }

    private void stay() {
        while (!closed) {
            for (int i = 0; i < channels.size() && !closed; i++) {
                renew(i);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    private void renew(int index) {
        boolean ended;
        try {
            ended = channels.get(index).read(input.clear()) < 0;
        } catch (IOException e) {
            ended = true;
        }
        if (ended) {
            try (SocketChannel _ = channels.get(index)) {
                channels.set(index, call());
            } catch (IOException e) {
                // The listener is closed.
                closed = true;
            }
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (SocketChannel each : channels) {
            each.close();
        }
    }
}
