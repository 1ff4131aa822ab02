package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/// The base of tests with a librdmacm that has no device. Checks that no test leaves anything in C.
abstract class ConnectionCase {
    static final Duration LONG = Duration.ofMinutes(1);
    static final Duration SHORT = Duration.ofMillis(100);
    static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();
    static final InetSocketAddress PEER = new InetSocketAddress(address(10, 0, 0, 9), 7174);
    static final InetSocketAddress HERE = new InetSocketAddress(address(10, 0, 0, 7), 7174);

    static final int CONNECT_ERROR = 6;
    static final int UNREACHABLE = 7;
    static final int REJECTED = 8;
    static final int DISCONNECTED = 10;
    static final int DEVICE_REMOVAL = 11;
    private static final int IWARP = 1;
    private static final int SIW = 0x626d74;

    FakeVerbs fake;
    Context context;
    ProtectionDomain domain;
    CompletionQueue queue;
    ConnectionManager manager;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    @BeforeEach
    void open() {
        fake = FakeVerbs.fresh();
        openDevice();
    }

    private void openDevice() {
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        manager = ConnectionManager.open(context);
        fake.log();
    }

    void useIwarp() {
        useIwarp(SIW);
    }

    void useIwarp(int vendor) {
        context.close();
        fake.kind(IWARP, vendor);
        openDevice();
    }

    @AfterEach
    void nothingIsLeft() {
        context.close();
        assertThat(fake.connectionLeftovers())
                .as("identifiers, channels, unacknowledged events")
                .containsExactly(0, 0, 0);
    }

    static InetAddress address(int... bytes) {
        byte[] raw = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            raw[i] = (byte) bytes[i];
        }
        try {
            return InetAddress.getByAddress(raw);
        } catch (java.net.UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    QueuePair pair() {
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        fake.log();
        return pair;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static <T> FutureTask<T> start(boolean virtual, Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        var threads = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        threads.start(task);
        return task;
    }

    static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(1);
        }
    }

    /// Waits until the log of C has a line, so that the calling thread is in that function or past it.
    void awaitLog(String line) throws InterruptedException {
        StringBuilder seen = new StringBuilder();
        await(() -> {
            fake.log().forEach(seen::append);
            return seen.indexOf(line) >= 0;
        });
    }
}
