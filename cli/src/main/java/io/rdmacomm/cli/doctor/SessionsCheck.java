package io.rdmacomm.cli.doctor;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SessionOptions;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Sessions that connect, exchange a message and close.
final class SessionsCheck implements Check {
    static final String NAME = "doctor session";

    private static final int COUNT = 100;

    private final SessionOptions options;

    /// @param options where the server is, and how to connect
    SessionsCheck(SessionOptions options) {
        this.options = options.withName(NAME);
    }

    @Override
    public String name() {
        return COUNT + " sessions";
    }

    @Override
    public Verdict run(CheckSetup setup) throws InterruptedException {
        long[] nanos = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            if (Thread.interrupted()) {
                throw new InterruptedException("the check took too long");
            }
            long begin = System.nanoTime();
            try (ClientSession session = ClientSession.connect(options)) {
                exchange(session, setup, i);
            }
            nanos[i] = System.nanoTime() - begin;
        }
        Arrays.sort(nanos);
        return Verdict.ok("connected, answered and closed; median %.1f ms".formatted(nanos[COUNT / 2] / 1e6));
    }

    private static void exchange(ClientSession session, CheckSetup setup, int number) {
        RdmaChannel channel = session.endPoint().channel(0);
        try (RdmaBuffer buffer = session.allocate("question", Long.BYTES)) {
            BufferSlice question = buffer.block(0);
            question.segment().set(ValueLayout.JAVA_LONG, 0, number);
            channel.blocking(setup.timeout()).send(question);
            try (Message answer = channel.blocking(setup.timeout()).receive()) {
                long received = answer.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
                if (received != number) {
                    throw new CheckFailure("the answer " + number, "it was " + received);
                }
            }
        }
    }
}
