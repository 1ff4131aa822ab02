package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The engine reads on where a stream comes in, without its selector. Nothing else waits for its end, and
/// nothing is forgotten where it ends or where another thread takes over.
class EngineStreamTest {
    private static final int BYTES = 1 << 20;
    private static final long TIMEOUT_NANOS = 20_000_000_000L;
    // The engine looks at everything twice a second: who was forgotten until then exceeds the timeout.
    private static final int ROUNDS = 100;

    private final Device device = Soft.device("stream=127.0.0.1?sharedMemory=false");
    private final Arena arena = Arena.ofShared();
    private final Context here = device.open();
    private final Context there = device.open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final ProtectionDomain otherDomain = there.allocateProtectionDomain();
    private final CompletionQueue target =
            there.createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * WriteStream.WINDOW));

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    @Test
    void othersAreServedMeanwhile() throws Exception {
        WriteStream stream = stream(BYTES);
        WriteStream other = stream(Long.BYTES);
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch streaming = new CountDownLatch(1);
        CompletableFuture<Long> streamed = AddressEnd.async(() -> writeUntil(stop, stream, streaming));
        assertThat(streaming.await(20, TimeUnit.SECONDS)).isTrue();
        long deadline = deadline();
        for (int i = 0; i < ROUNDS; i++) {
            other.write(1, deadline);
        }
        stop.set(true);
        assertThat(streamed.get(30, TimeUnit.SECONDS)).isPositive();
    }

    @Test
    void dataAfterAStreamIsNoticed() {
        WriteStream stream = stream(BYTES);
        long deadline = deadline();
        for (int i = 0; i < ROUNDS; i++) {
            stream.write(2 * WriteStream.WINDOW, deadline);
            // Around the time after which the engine asks its selector again.
            LockSupport.parkNanos((i % 10) * 20_000L);
        }
    }

    @Test
    void aPollingThreadTakesOverAndLeavesAgain() {
        WriteStream stream = stream(BYTES);
        Completions room = Completions.create(arena, WriteStream.WINDOW);
        long deadline = deadline();
        for (int i = 0; i < ROUNDS; i++) {
            stream.post(WriteStream.WINDOW);
            long until = System.nanoTime() + (i % 10) * 20_000L;
            do {
                assertThat(target.poll(room)).isZero();
            } while (System.nanoTime() - until < 0);
            stream.write(WriteStream.WINDOW, deadline);
        }
    }

    private WriteStream stream(int bytes) {
        return new WriteStream(arena, domain, otherDomain, target, bytes);
    }

    private static long deadline() {
        return System.nanoTime() + TIMEOUT_NANOS;
    }

    private static long writeUntil(AtomicBoolean stop, WriteStream stream, CountDownLatch streaming) {
        while (!stop.get()) {
            stream.write(WriteStream.WINDOW, deadline());
            streaming.countDown();
        }
        return stream.done();
    }
}
