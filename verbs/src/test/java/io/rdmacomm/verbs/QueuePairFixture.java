package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.NullDrivers.NullQueuePair;
import java.lang.foreign.Arena;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// Queue pairs on [NullDrivers], and something to post to them.
abstract class QueuePairFixture {
    final NullDrivers device = new NullDrivers();
    final Arena arena = Arena.ofConfined();
    Context context;
    ProtectionDomain domain;
    CompletionQueue queue;
    Completions completions;

    @BeforeEach
    void open() {
        context = Device.of(device).open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(100));
        completions = Completions.create(arena, 16);
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
        assertThat(Rdma.openContexts()).isEmpty();
    }

    QueuePairOptions options() {
        return QueuePairOptions.reliable(queue).withSizes(new QueueSizes(4, 4, 2, 2, 16));
    }

    QueuePair create(QueuePairOptions options) {
        return domain.createQueuePair(options);
    }

    NullQueuePair driver(QueuePair pair) {
        return device.queuePairs.get(pair.number());
    }

    QueuePair connected(QueuePairOptions options) {
        QueuePair pair = create(options);
        pair.connect(new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), PathMtu.MTU_512));
        return pair;
    }

    SendBatch sends(int count, boolean signaled) {
        SendBatch batch = SendBatch.create(arena, count, 4, 64);
        for (int i = 0; i < count; i++) {
            batch.send(i);
            if (signaled) {
                batch.signaled();
            }
        }
        return batch;
    }

    ReceiveBatch receives(int count) {
        ReceiveBatch batch = ReceiveBatch.create(arena, count, 4);
        for (int i = 0; i < count; i++) {
            batch.receive(i);
        }
        return batch;
    }

    static QueuePair inState(QueuePair pair, QueuePairState state) {
        switch (state) {
            case RESET -> {}
            case INIT -> pair.modify(init());
            case READY_TO_RECEIVE -> {
                pair.modify(init());
                pair.modify(new QueuePairAttributes()
                        .state(QueuePairState.READY_TO_RECEIVE)
                        .addressVector(new AddressVector(Gid.NONE, 1, 0, 1, 0, 0, 0, 0))
                        .pathMtu(PathMtu.MTU_1024)
                        .destinationNumber(1)
                        .receivePsn(2)
                        .maxDestinationReadAtomic(1)
                        .minRnrTimer(new RnrTimer(1)));
            }
            default -> {
                pair.connect(new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), PathMtu.MTU_512));
                if (state != QueuePairState.READY_TO_SEND) {
                    pair.modify(new QueuePairAttributes().state(state));
                }
            }
        }
        assertThat(pair.state()).isEqualTo(state);
        return pair;
    }

    static QueuePairAttributes init() {
        return new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(Set.of());
    }
}
