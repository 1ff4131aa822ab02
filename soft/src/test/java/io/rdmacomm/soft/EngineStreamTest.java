package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The engine reads on where a stream comes in, without being told of more. Nothing else waits for its end, and
/// nothing is forgotten where it ends or where somebody else takes over.
class EngineStreamTest {
    private static final int BYTES = 1 << 20;
    private static final int WINDOW = 4;
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    // The engine looks at everything twice a second: who was forgotten until then exceeds the patience.
    private static final int ROUNDS = 100;

    private final SoftDevice device =
            new SoftDevice("soft", DeviceSettings.parse("stream=127.0.0.1?sharedMemory=false"));
    private final Arena arena = Arena.ofShared();
    private final SoftContext here = (SoftContext) device.open();
    private final SoftContext there = (SoftContext) device.open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final ProtectionDomain otherDomain = there.allocateProtectionDomain();
    private final CompletionQueue target = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * WINDOW));

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    @Test
    void othersAreServedMeanwhile() throws Exception {
        Writer stream = new Writer(BYTES);
        Writer other = new Writer(Long.BYTES);
        AtomicBoolean stop = new AtomicBoolean();
        CompletableFuture<Long> streamed = AddressEnd.async(() -> stream.writeUntil(stop));
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        for (int i = 0; i < ROUNDS; i++) {
            other.write(1, deadline);
        }
        stop.set(true);
        assertThat(streamed.get(30, TimeUnit.SECONDS)).isPositive();
    }

    @Test
    void whatComesAfterAStreamIsSeen() {
        Writer stream = new Writer(BYTES);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        for (int i = 0; i < ROUNDS; i++) {
            stream.write(2 * WINDOW, deadline);
            // Around the time after which the engine asks its selector again.
            LockSupport.parkNanos((i % 10) * 20_000L);
        }
    }

    @Test
    void somebodyWhoPollsTakesOverAndLeavesAgain() {
        Writer stream = new Writer(BYTES);
        Completions room = Completions.create(arena, WINDOW);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        for (int i = 0; i < ROUNDS; i++) {
            stream.post(WINDOW);
            long until = System.nanoTime() + (i % 10) * 20_000L;
            do {
                assertThat(target.poll(room)).isZero();
            } while (System.nanoTime() - until < 0);
            stream.write(WINDOW, deadline);
        }
    }

    /// WRITEs from `here` to `there` over a connection of their own, a window of them in flight.
    private final class Writer {
        private final CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(WINDOW));
        private final QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        private final Completions room = Completions.create(arena, WINDOW);
        private final SendBatch write;
        private long posted;
        private long done;

        Writer(int bytes) {
            QueuePair peer = otherDomain.createQueuePair(QueuePairOptions.reliable(target));
            pair.connect(peer.info(), ConnectionOptions.defaults());
            peer.connect(pair.info(), ConnectionOptions.defaults());
            MemoryRegion from = domain.allocate(bytes, AccessFlag.allRemote());
            MemoryRegion to = otherDomain.allocate(bytes, AccessFlag.allRemote());
            write = SendBatch.create(arena, 1, 1)
                    .write(1, to.address(), to.remoteKey())
                    .with(from, 0, bytes)
                    .signaled();
        }

        long writeUntil(AtomicBoolean stop) {
            while (!stop.get()) {
                write(WINDOW, System.nanoTime() + PATIENCE_NANOS);
            }
            return done;
        }

        void write(int count, long deadline) {
            long wanted = done + count;
            while (done < wanted) {
                post((int) Math.min(WINDOW, wanted - done));
                int found = queue.poll(room);
                for (int i = 0; i < found; i++) {
                    assertThat(room.isSuccess(i)).isTrue();
                }
                done += found;
                assertThat(System.nanoTime() - deadline)
                        .as("%d WRITEs have ended in time", done)
                        .isNegative();
            }
        }

        /// Posts until so many are in flight.
        void post(int most) {
            while (posted - done < most) {
                assertThat(pair.post(write)).isEqualTo(1);
                posted++;
            }
        }
    }
}
