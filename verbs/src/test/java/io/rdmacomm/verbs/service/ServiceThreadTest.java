package io.rdmacomm.verbs.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceThreadTest {
    private static final SafeLogger LOGGER = SafeLogger.of(ServiceThreadTest.class);
    private static final Logger JAVA_LOGGER = Logger.getLogger(ServiceThreadTest.class.getName());
    private static final long TIMEOUT_SECONDS = 60;

    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private volatile Runnable whenLogging = () -> {};
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            whenLogging.run();
            // Found on the stack, now or never.
            var _ = record.getSourceClassName();
            records.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    /// What the thread does in each turn; null ends it.
    private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();

    private final AtomicInteger ends = new AtomicInteger();

    private interface Step {
        boolean run() throws Exception;
    }

    @BeforeEach
    void listen() {
        JAVA_LOGGER.setUseParentHandlers(false);
        JAVA_LOGGER.addHandler(handler);
    }

    @AfterEach
    void listenNoMore() {
        JAVA_LOGGER.removeHandler(handler);
    }

    private ServiceThread started() {
        return new ServiceThread("served", LOGGER, () -> steps.take().run(), ends::incrementAndGet).start();
    }

    private void end(ServiceThread thread) {
        steps.add(() -> false);
        assertThat(thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS))).isTrue();
    }

    private void another() throws InterruptedException {
        CountDownLatch served = new CountDownLatch(1);
        steps.add(() -> {
            served.countDown();
            return true;
        });
        assertThat(served.await(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                .as("another turn")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            classes = {java.io.IOException.class, IllegalStateException.class, Error.class, OutOfMemoryError.class})
    void noFailureEndsIt(Class<? extends Throwable> failure) throws Exception {
        Throwable thrown = failure.getConstructor(String.class).newInstance("on purpose");
        ServiceThread thread = started();
        steps.add(() -> {
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (Exception) thrown;
        });
        another();
        assertThat(records).singleElement().satisfies(record -> {
            assertThat(record.getMessage())
                    .contains("served continues after a failure")
                    .contains("on purpose");
            assertThat(record.getThrown()).isSameAs(thrown);
        });
        end(thread);
        assertThat(ends).hasValue(1);
    }

    @Test
    void aLogThatFailsDoesNotEndIt() throws InterruptedException {
        whenLogging = () -> {
            throw new Error("no file descriptor left");
        };
        ServiceThread thread = started();
        steps.add(() -> {
            throw new IllegalStateException("on purpose");
        });
        another();
        assertThat(records).isEmpty();
        end(thread);
    }

    @Test
    void itReportsOnceASecondAndCountsTheRest() throws InterruptedException {
        ServiceThread thread = started();
        for (int i = 0; i < 3; i++) {
            steps.add(() -> {
                throw new IllegalStateException("on purpose");
            });
        }
        another();
        assertThat(records).isNotEmpty();
        if (records.size() == 1) {
            long start = System.nanoTime();
            while (records.size() == 1 && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
                steps.add(() -> {
                    throw new IllegalStateException("on purpose");
                });
                another();
            }
        }
        assertThat(records.getLast().getMessage()).contains("were not logged");
        end(thread);
    }

    @Test
    void anInterruptEndsNeitherItNorItsNextWait() throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicInteger interrupts = new AtomicInteger();
        ServiceThread thread = started();
        steps.add(() -> {
            waiting.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupts.incrementAndGet();
                // As a channel does.
                Thread.currentThread().interrupt();
            }
            return true;
        });
        assertThat(waiting.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        thread.interrupt();
        another();
        assertThat(interrupts).hasValue(1);
        assertThat(records).isEmpty();
        end(thread);
    }

    @Test
    void whoDependsOnItLearnsOfItsEndAlthoughTellingFailsAtFirst() {
        AtomicInteger tellings = new AtomicInteger();
        ServiceThread thread = new ServiceThread("served", LOGGER, () -> false, () -> {
                    if (tellings.incrementAndGet() < 3) {
                        throw new OutOfMemoryError("on purpose");
                    }
                })
                .start();
        assertThat(thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS))).isTrue();
        assertThat(tellings).hasValue(3);
    }

    @Test
    void itDoesNotWaitForItself() throws InterruptedException {
        BlockingQueue<Boolean> ended = new LinkedBlockingQueue<>();
        ServiceThread[] thread = {null};
        thread[0] = new ServiceThread("served", LOGGER, () -> steps.take().run());
        thread[0].start();
        steps.add(() -> {
            thread[0].join();
            return ended.add(thread[0].isCurrent());
        });
        assertThat(ended.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        end(thread[0]);
    }

    @Test
    void theLogNamesWhoLogs() {
        LOGGER.log(Level.WARNING, "said here");
        assertThat(records).singleElement().satisfies(record -> {
            assertThat(record.getSourceClassName()).isEqualTo(ServiceThreadTest.class.getName());
            assertThat(record.getMessage()).isEqualTo("said here");
        });
    }

    @Test
    void noFormOfLoggingThrows() {
        whenLogging = () -> {
            throw new Error("no file descriptor left");
        };
        LOGGER.prepare();
        LOGGER.log(Level.WARNING, "text");
        LOGGER.log(Level.WARNING, "text", new Error());
        LOGGER.log(Level.WARNING, "text {0}", 1);
        LOGGER.log(Level.WARNING, () -> {
            throw new OutOfMemoryError("on purpose");
        });
        LOGGER.log(
                Level.WARNING,
                () -> {
                    throw new OutOfMemoryError("on purpose");
                },
                new Error());
        assertThat(records).isEmpty();
    }
}
