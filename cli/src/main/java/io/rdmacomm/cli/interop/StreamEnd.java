package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.WatchedSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/// One end of a stream: the client or the server of all its connections. For one thread.
final class StreamEnd {
    /// Receives the progress of the tests.
    interface Listener {
        /// A test begins.
        default void onBegin(StreamTest test) {}

        /// A test has succeeded.
        void onEnd(StreamResult result);
    }

    static final String ADVICE = "both ends need the same --size, --count and --iterations, and --tcp at both or none";

    private static final int SYNC_BYTES = 16;
    /// The first bytes that an iWARP device sends to a TCP port (RFC 5044, section 7.1). They happen to be as long
    /// as the first message.
    private static final ByteBuffer IWARP = ByteBuffer.wrap("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII));

    private final StreamOptions.Plan plan;
    private final boolean server;
    private final Duration timeout;
    private final Listener listener;
    private final RunningBytes out = new RunningBytes();
    private final RunningBytes in = new RunningBytes();
    private final ByteBuffer buffer;

    /// @param listener is notified of each test
    StreamEnd(StreamOptions.Plan plan, boolean server, Duration timeout, Listener listener) {
        this.plan = plan;
        this.server = server;
        this.timeout = timeout;
        this.listener = listener;
        this.buffer = ByteBuffer.allocateDirect(Math.max(SYNC_BYTES, plan.longest()));
    }

    /// Runs the tests of a connection, and closes it.
    ///
    /// @throws CommandFailure if a test fails
    void run(SocketChannel channel, List<StreamTest> tests) throws IOException {
        try (channel;
                WatchedSocket connection = new WatchedSocket(channel, plan.waiting(), timeout, ADVICE)) {
            for (StreamTest test : tests) {
                listener.onBegin(test);
                listener.onEnd(run(connection, test));
            }
            if (server) {
                // Otherwise this process could exit before the data that it sent has arrived.
                connection.awaitEnd();
            }
        }
    }

    /// The number of checked bytes from the peer.
    long checked() {
        return in.count();
    }

    private StreamResult run(WatchedSocket connection, StreamTest test) {
        turn(connection, !server, SYNC_BYTES, 1);
        turn(connection, server, SYNC_BYTES, 1);
        long begin = System.nanoTime();
        for (int i = 0; i < test.iterations(); i++) {
            turn(connection, !server, test.bytes(), test.transfers());
            turn(connection, server, test.bytes(), test.transfers());
        }
        return new StreamResult(test, Math.max(1, System.nanoTime() - begin));
    }

    private void turn(WatchedSocket connection, boolean sends, int bytes, int transfers) {
        for (int i = 0; i < transfers; i++) {
            buffer.clear().limit(bytes);
            if (sends) {
                send(connection);
            } else {
                receive(connection);
            }
        }
    }

    private void send(WatchedSocket connection) {
        if (plan.verified()) {
            out.fill(buffer);
        }
        connection.send(buffer);
    }

    private void receive(WatchedSocket connection) {
        connection.receive(buffer);
        buffer.flip();
        if (buffer.limit() == SYNC_BYTES && buffer.equals(IWARP)) {
            throw new CommandFailure("the client speaks RDMA, and this server plain TCP: give --tcp at both or none");
        }
        if (plan.verified()) {
            in.check(buffer);
        }
    }

    /// The pattern of `rstream -T v` in one direction: each byte is one more than the byte before it, across
    /// transfers and connections.
    static final class RunningBytes {
        private static final int BYTE = 0xff;

        private long count;

        RunningBytes() {}

        /// Fills the buffer with the next bytes.
        void fill(ByteBuffer buffer) {
            for (int i = buffer.position(); i < buffer.limit(); i++) {
                buffer.put(i, (byte) count++);
            }
        }

        /// Compares the buffer with the next bytes.
        ///
        /// @throws CommandFailure if one differs
        void check(ByteBuffer buffer) {
            for (int i = buffer.position(); i < buffer.limit(); i++) {
                byte actual = buffer.get(i);
                if (actual != (byte) count) {
                    throw new CommandFailure("byte " + count + " from the peer is " + (actual & BYTE) + ", not "
                            + (count & BYTE) + ": give -T v at both ends; if both have it, the data was damaged");
                }
                count++;
            }
        }

        /// The number of bytes filled or checked so far.
        long count() {
            return count;
        }
    }
}
