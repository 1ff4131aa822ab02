package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.OtherDevices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// One selector, and random connections that come and end in every way at once. A failure costs one connection: no
/// select throws, every connection that nobody ends gets the right bytes, and no key stays.
@ExtendWith(LeakCheck.class)
class SelectorChurnTest {
    private static final String SHARED = "soft0=127.0.0.1";
    private static final String TCP = "tcp0=127.0.0.1?sharedMemory=false";
    private static final String ROCE = "roce0=127.0.0.1?transport=roce";
    private static final int THREADS = 4;
    /// Connections of each thread, also on a machine that is too busy for them in the time.
    private static final int LEAST = 10;
    private static final int END_MILLIS = 30_000;

    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong compared = new AtomicLong();

    @ParameterizedTest
    @ValueSource(strings = {SHARED, TCP, ROCE})
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void aFailureCostsOneConnection(String device) throws Exception {
        churn(device, 1_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {SHARED, TCP, ROCE})
    @Tag("slow")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void aFailureCostsOneConnectionForMinutes(String device) throws Exception {
        churn(device, 60_000);
    }

    private void churn(String device, int millis) throws Exception {
        long seed = System.nanoTime();
        try (OtherDevices _ = OtherDevices.of(device);
                EchoServer server = EchoServer.start(device.replaceAll("=.*", ""))) {
            Random random = new Random(seed);
            List<Thread> threads = new ArrayList<>();
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            for (int i = 0; i < THREADS; i++) {
                Random own = new Random(random.nextLong());
                threads.add(Thread.ofPlatform().daemon().start(() -> connect(server, own, end)));
            }
            for (Thread thread : threads) {
                assertThat(thread.join(Duration.ofMillis(millis + 2 * END_MILLIS)))
                        .as("a connection still gets its bytes; seed " + seed)
                        .isTrue();
            }
            System.out.println(
                    device + ": " + connections + " connections, " + compared + " bytes compared, seed " + seed);
            assertThat(failure.get()).as("seed " + seed).isNull();
            assertThat(server.failure()).as("seed " + seed).isNull();
            assertThat(connections.get()).isGreaterThanOrEqualTo(THREADS * LEAST);
            assertThat(compared.get()).isPositive();
            assertThat(Deadline.until(END_MILLIS, () -> server.connections() == 0))
                    .as("no key stays; seed " + seed)
                    .isTrue();
        }
    }

    private void connect(EchoServer server, Random random, long end) {
        try {
            for (int i = 0; i < LEAST || System.nanoTime() - end < 0; i++) {
                if (failure.get() != null || server.failure() != null) {
                    return;
                }
                compared.addAndGet(EchoClient.run(server, server.port(), random));
                connections.incrementAndGet();
            }
        } catch (Exception | AssertionError e) {
            failure.compareAndSet(null, e);
        }
    }
}
