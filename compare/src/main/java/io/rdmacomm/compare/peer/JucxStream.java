package io.rdmacomm.compare.peer;

import java.io.IOException;
import org.openucx.jucx.ucp.UcpRequest;

/// A stream of messages through jucx, many at a time, all from and into the same memory, as `ucx_perftest` has it. They
/// are sent with a tag, and the receiver confirms every stream; or they are written, and flushed. Both ends poll.
final class JucxStream implements Peer {
    /// As many as `rdmacomm bench` has in flight.
    private static final int WINDOW = 128;

    private static final long CONFIRMATION = 1;
    private static final byte BEFORE = 0;
    private static final byte LAST = 1;

    private final boolean put;

    /// @param put whether the messages are written
    JucxStream(boolean put) {
        this.put = put;
    }

    /// One of many equal operations.
    @FunctionalInterface
    private interface Operation {
        UcpRequest begin();
    }

    private static void repeat(JucxEnd end, long times, Operation operation) {
        UcpRequest[] window = new UcpRequest[WINDOW];
        for (long i = 0; i < times; i++) {
            int slot = (int) (i % WINDOW);
            if (i >= WINDOW) {
                end.await(window[slot]);
            }
            window[slot] = operation.begin();
        }
        for (long i = Math.max(0, times - WINDOW); i < times; i++) {
            end.await(window[(int) (i % WINDOW)]);
        }
    }

    @Override
    public void serve(Task task) throws IOException {
        int bytes = task.bytes();
        try (JucxEnd end = new JucxEnd(Sockets.accept(task), task, bytes)) {
            if (put) {
                end.awaitChange(bytes - 1, BEFORE);
                return;
            }
            // The tag of the first message is the number of those that follow.
            for (long messages; (messages = end.await(end.receive(0, 1)).getSenderTag()) > 0; ) {
                repeat(end, messages, () -> end.receive(0, bytes));
                end.await(end.send(0, 1, CONFIRMATION));
            }
        }
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        int bytes = task.bytes();
        try (JucxEnd end = new JucxEnd(Sockets.connect(task), task, bytes)) {
            double rate = Streams.rate(
                    task, put ? messages -> write(end, messages, bytes) : messages -> send(end, messages, bytes));
            if (put) {
                end.setValue(bytes - 1, LAST);
                write(end, 1, bytes);
            } else {
                end.await(end.send(0, 1, 0));
            }
            return rate;
        }
    }

    private static void write(JucxEnd end, long messages, int bytes) {
        repeat(end, messages, () -> end.put(0, 0, bytes));
        end.await(end.flush());
    }

    private static void send(JucxEnd end, long messages, int bytes) {
        end.await(end.send(0, 1, messages));
        repeat(end, messages, () -> end.send(0, bytes, CONFIRMATION));
        end.await(end.receive(0, 1));
    }
}
