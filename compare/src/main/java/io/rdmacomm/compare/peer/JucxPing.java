package io.rdmacomm.compare.peer;

import java.io.IOException;

/// Messages back and forth through jucx: either sent with a tag, or written into the memory of the other end, which
/// watches the last byte. Both ends poll.
final class JucxPing implements Peer {
    private static final long MESSAGE = 1;
    private static final long END = 2;
    private static final byte BEFORE = 0;
    private static final byte LAST = -1;

    private final boolean put;

    /// @param put whether the messages are written
    JucxPing(boolean put) {
        this.put = put;
    }

    /// Messages arrive at the beginning of the memory, and leave from behind.
    private static int bytes(Task task) {
        return 2 * task.bytes();
    }

    @Override
    public void serve(Task task) throws IOException {
        try (JucxEnd end = new JucxEnd(Sockets.accept(task), task, bytes(task))) {
            if (put) {
                answerPuts(end, task.bytes());
            } else {
                answerSends(end, task.bytes());
            }
        }
    }

    private static void answerSends(JucxEnd end, int bytes) {
        while (end.await(end.receive(0, bytes)).getSenderTag() != END) {
            end.await(end.send(bytes, bytes, MESSAGE));
        }
    }

    private static void answerPuts(JucxEnd end, int bytes) {
        byte value = BEFORE;
        while ((value = end.awaitChange(bytes - 1, value)) != LAST) {
            put(end, bytes, value);
        }
    }

    private static void put(JucxEnd end, int bytes, byte value) {
        end.setValue(2 * bytes - 1, value);
        end.await(end.put(bytes, 0, bytes));
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        int bytes = task.bytes();
        try (JucxEnd end = new JucxEnd(Sockets.connect(task), task, bytes(task))) {
            double micros = task.micros(put ? () -> askByPut(end, bytes) : () -> ask(end, bytes));
            if (put) {
                put(end, bytes, LAST);
                end.await(end.flush());
            } else {
                end.await(end.send(bytes, bytes, END));
            }
            return micros / 2;
        }
    }

    private static void ask(JucxEnd end, int bytes) {
        end.await(end.send(bytes, bytes, MESSAGE));
        end.await(end.receive(0, bytes));
    }

    /// Each message differs from the one before.
    private static void askByPut(JucxEnd end, int bytes) {
        byte before = end.value(bytes - 1);
        put(end, bytes, (byte) (before == 1 ? 2 : 1));
        end.awaitChange(bytes - 1, before);
    }
}
