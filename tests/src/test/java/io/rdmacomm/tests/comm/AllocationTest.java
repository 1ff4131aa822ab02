package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.MessageHandler;
import io.rdmacomm.comm.MovableSlice;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Operations with handlers allocate nothing, from post to handler.
final class AllocationTest {
    private static final int OPERATIONS = Amount.of(100_000, 3000);

    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withThreadMode(ThreadMode.CALLER).withWorkMode(WorkMode.POLLING);

    private ConnectedPair pair;
    private RdmaChannel channel;
    private BufferSlice slice;
    private RemoteBuffer remote;
    private long ended;
    private long received;
    private long failed;
    private final CompletionHandler handler = (on, context, status, result) -> {
        ended++;
        failed += status == WorkStatus.SUCCESS ? 0 : 1;
    };
    private final MessageHandler counter = (on, message) -> received += message.block() == null ? 0 : 1;

    @BeforeEach
    void connect() {
        connect(OPTIONS, OPTIONS);
    }

    private void connect(SessionOptions server, SessionOptions client) {
        pair = new ConnectedPair(server, client);
        channel = pair.clientChannel();
        RdmaBuffer source = pair.client.allocate("source", 64);
        slice = source.slice(0, 8);
        remote = pair.target(pair.server.allocate("target", 64));
        pair.serverChannel().onMessage(counter);
    }

    @AfterEach
    void close() {
        pair.close();
    }

    /// One operation, which ends before it returns.
    private interface Round {
        void run();
    }

    private void measure(Round round) {
        Allocation.assertNone(OPERATIONS + " operations", () -> {
            for (int i = 0; i < OPERATIONS; i++) {
                round.run();
            }
        });
        assertThat(failed).isZero();
    }

    @Test
    void aWriteAllocatesNothing() {
        measure(() -> {
            long goal = ended + 1;
            while (!channel.tryWrite(slice, remote, 0, handler, 1).isAccepted()) {
                channel.poll();
            }
            while (ended < goal) {
                channel.poll();
            }
        });
    }

    @Test
    void aReadAndAnAtomicAllocateNothing() {
        measure(() -> {
            long goal = ended + 2;
            while (!channel.tryRead(slice, remote, 0, handler, 1).isAccepted()) {
                channel.poll();
            }
            while (!channel.tryFetchAndAdd(remote, 0, 1, handler, 1).isAccepted()) {
                channel.poll();
            }
            while (ended < goal) {
                channel.poll();
            }
        });
    }

    @Test
    void aMessageAllocatesNothingOnEitherSideCreditsIncluded() {
        measureMessages();
    }

    private void measureMessages() {
        measure(() -> {
            long goal = received + 1;
            while (!channel.trySend(slice, 5, handler, 1).isAccepted()) {
                channel.poll();
                pair.server.poll();
            }
            while (received < goal) {
                pair.server.poll();
                channel.poll();
            }
        });
        assertThat(pair.serverChannel().statistics().value(ChannelCounter.CREDIT_UPDATES))
                .isPositive();
    }

    @Test
    void aMessageOfAnotherLengthAllocatesNothing() {
        RdmaBuffer source = pair.client.allocate(64, 1);
        BufferSlice memory = source.block(0);
        MovableSlice part = memory.movable();
        measure(() -> {
            long goal = received + 1;
            while (!channel.trySend(part.at(received & 7, received & 31), 5, handler, 1)
                    .isAccepted()) {
                channel.poll();
                pair.server.poll();
            }
            memory.getAcquire(0);
            while (received < goal) {
                pair.server.poll();
                channel.poll();
            }
        });
    }

    @Test
    void aMessageInASharedReceiveAllocatesNothing() {
        pair.close();
        connect(OPTIONS.withSharedReceives(SharedReceives.of(64, 2)), OPTIONS);
        measureMessages();
    }

    @Test
    void aBatchAllocatesNothing() {
        ChannelBatch batch = channel.batch(16);
        measure(() -> {
            while (batch.write(slice, remote, 0, handler, 1)) {
                // Until it is full.
            }
            while (!batch.tryPost().isAccepted()) {
                channel.poll();
            }
            channel.poll();
        });
    }
}
