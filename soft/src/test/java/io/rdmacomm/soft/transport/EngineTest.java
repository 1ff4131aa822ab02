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
    private final CountDownLatch busy = new CountDownLatch(MANY);

    @BeforeEach
    void start() throws IOException {
        engine = new Engine("engine", this::onTime);
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

    /// What makes the others fail stays ready: it fails again and again.
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

    private long onTime() {
        long nanos = nanosUntilWanted;
        if (nanos == 0) {
            busy.countDown();
        }
        return nanos;
    }
}
