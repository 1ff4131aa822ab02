package io.rdmacomm.soft.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// One thread serves all connections of a context.
class EngineTest {
    private static final int MANY = 16;

    private final List<Pipe> pipes = new ArrayList<>();
    private Engine engine;
    private volatile long nanosUntilWanted = Long.MAX_VALUE;
    private volatile LongSupplier onTime = this::sinceWanted;
    private final AtomicInteger failures = new AtomicInteger();
    private final CountDownLatch busy = new CountDownLatch(MANY);

    @BeforeEach
    void start() throws IOException {
        engine = new Engine("engine", this::onTime, failures::incrementAndGet);
        engine.start();
    }

    @AfterEach
    void close() throws IOException {
        engine.close();
        for (Pipe pipe : pipes) {
            pipe.source().close();
            pipe.sink().close();
        }
    }

    private void register(Engine.Ready ready) throws IOException {
        Pipe pipe = Pipe.open();
        pipes.add(pipe);
        pipe.source().configureBlocking(false);
        pipe.sink().write(ByteBuffer.allocate(1));
        engine.register(pipe.source(), SelectionKey.OP_READ, ready);
    }

    /// One that fails each time that it is served, until `end` has counted down.
    private void registerFailing(CountDownLatch failed, CountDownLatch end) throws IOException {
        register(key -> {
            failed.countDown();
            if (end.getCount() == 0) {
                key.cancel();
            }
            throw new IOException("this one always fails");
        });
    }

    /// The channel that makes the others fail stays ready: it fails again and again.
    @Test
    void aConnectionThatFailsDoesNotKeepItFromTheOthers() throws Exception {
        CountDownLatch served = new CountDownLatch(MANY);
        CountDownLatch failed = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            registerFailing(failed, served);
        }
        assertThat(failed.await(10, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < MANY; i++) {
            register(key -> {
                key.cancel();
                served.countDown();
            });
        }
        assertThat(served.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aConnectionThatAlwaysFailsDoesNotFillTheLog() throws Exception {
        int failures = 1_000;
        Logger logger = Logger.getLogger(Engine.class.getName());
        AtomicInteger said = new AtomicInteger();
        logger.setFilter(entry -> {
            said.incrementAndGet();
            return false;
        });
        try {
            long begin = System.nanoTime();
            CountDownLatch failed = new CountDownLatch(failures);
            registerFailing(failed, failed);
            assertThat(failed.await(60, TimeUnit.SECONDS)).isTrue();
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
            assertThat(said.get()).isBetween(1, 2 + (int) seconds);
        } finally {
            logger.setFilter(null);
        }
    }

    /// While the context wants all of its time, too.
    @Test
    void aConnectionIsServedWhileTheContextIsBusy() throws Exception {
        nanosUntilWanted = 0;
        engine.wakeup();
        assertThat(busy.await(10, TimeUnit.SECONDS)).isTrue();
        CountDownLatch served = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            register(key -> {
                key.cancel();
                served.countDown();
            });
        }
        assertThat(served.await(10, TimeUnit.SECONDS)).isTrue();
        CountDownLatch done = new CountDownLatch(1);
        engine.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /// By its own handlers, tasks and clock.
    @Test
    void anErrorDoesNotEndIt() throws Exception {
        List<Error> errors =
                List.of(new OutOfMemoryError("no"), new StackOverflowError("no"), new AssertionError("no"));
        for (Error error : errors) {
            CountDownLatch thrown = new CountDownLatch(3);
            register(key -> {
                key.cancel();
                thrown.countDown();
                throw error;
            });
            engine.execute(() -> {
                thrown.countDown();
                throw error;
            });
            onTime = () -> {
                onTime = () -> Long.MAX_VALUE;
                thrown.countDown();
                throw error;
            };
            engine.wakeup();
            assertThat(thrown.await(10, TimeUnit.SECONDS)).isTrue();
            served();
        }
        assertThat(failures).hasValue(0);
    }

    private void served() throws Exception {
        CountDownLatch done = new CountDownLatch(2);
        register(key -> {
            key.cancel();
            done.countDown();
        });
        engine.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anErrorOfTheLogDoesNotEndIt() throws Exception {
        Logger logger = Logger.getLogger(Engine.class.getName());
        CountDownLatch thrown = new CountDownLatch(1);
        logger.setFilter(entry -> {
            thrown.countDown();
            throw new OutOfMemoryError("no");
        });
        try {
            engine.execute(() -> {
                throw new StackOverflowError("no");
            });
            assertThat(thrown.await(10, TimeUnit.SECONDS)).isTrue();
            served();
        } finally {
            logger.setFilter(null);
        }
    }

    @Test
    void itsUnexpectedEndIsToldOnce() throws Exception {
        register(key -> key.selector().close());
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (failures.get() == 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        engine.close();
        assertThat(failures).hasValue(1);
    }

    @Test
    void itsOrdinaryEndIsNoFailure() throws Exception {
        served();
        engine.close();
        assertThat(failures).hasValue(0);
    }

    private long onTime() {
        return onTime.getAsLong();
    }

    private long sinceWanted() {
        long nanos = nanosUntilWanted;
        if (nanos == 0) {
            busy.countDown();
        }
        return nanos;
    }
}
