package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Callers who stop in the middle of the handshake, beside honest clients from the same address.
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class HalfMadeTest {
    private static final int BACKLOG = 50;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(2);
    /// Beside other tests.
    private static final Duration LESS_SOON = Duration.ofSeconds(6);
    private static final BufferSizes SMALL = new BufferSizes(8192, 8192, 8192, 32, 0);
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String SERVER = "127.0.0.61";
    private static final String CLIENT = "127.0.0.62";

    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        System.clearProperty(DEVICES);
    }

    private <T extends AutoCloseable> T kept(T resource) {
        open.add(resource);
        return resource;
    }

    private SocketDevice device(String name) {
        return kept(SocketDevice.open(name));
    }

    /// Over RoCE; the other devices remain.
    private SocketDevice roce(String address) {
        System.setProperty(DEVICES, "roce9=" + address + "?transport=roce");
        try {
            return device("roce9");
        } finally {
            System.clearProperty(DEVICES);
        }
    }

    /// Listens, and accepts in a loop.
    private RsListener server(SocketDevice device, InetAddress address) throws IOException {
        RsListener listener =
                kept(RsListener.open(device, new InetSocketAddress(address, 0), BACKLOG, BufferSizes.defaults()));
        Thread accepting = Thread.ofPlatform().daemon().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Established next = listener.await(LONG.toNanos()) ? listener.poll() : null;
                if (next != null) {
                    accepted.incrementAndGet();
                    next.connection().abort();
                }
            }
        });
        kept(accepting::interrupt);
        return listener;
    }

    private static long connect(SocketDevice device, RsListener listener) throws IOException {
        long begin = System.nanoTime();
        RsConnector.connect(device, listener.localAddress(), IdentifierOptions.none(), SMALL, LONG)
                .connection()
                .abort();
        return System.nanoTime() - begin;
    }

    private static void honestClientsConnect(SocketDevice device, RsListener listener, int count, Duration soon)
            throws IOException {
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            millis.add(TimeUnit.NANOSECONDS.toMillis(connect(device, listener)));
        }
        assertThat(millis).as("milliseconds of each").allMatch(each -> each < soon.toMillis());
    }

    @Test
    void silentCallersKeepNobodyOut() throws Exception {
        besideSilentCallers(5, LESS_SOON);
    }

    @Test
    @Tag("slow")
    void silentCallersKeepNobodyOutForLong() throws Exception {
        besideSilentCallers(20, SOON);
    }

    private void besideSilentCallers(int honest, Duration soon) throws Exception {
        RsListener listener = server(device("soft0"), InetAddress.getLoopbackAddress());
        SocketDevice client = device("soft0");
        var _ = connect(client, listener);
        var _ = kept(new Strangers(listener.localAddress(), 150));
        honestClientsConnect(client, listener, honest, soon);
    }

    @Test
    void forgedRequestsOverRoceKeepNobodyOut() throws Exception {
        besideForgedRequests(5, LESS_SOON);
    }

    @Test
    @Tag("slow")
    void forgedRequestsOverRoceKeepNobodyOutForLong() throws Exception {
        besideForgedRequests(20, SOON);
    }

    private void besideForgedRequests(int honest, Duration soon) throws Exception {
        RsListener listener = server(roce(SERVER), InetAddress.ofLiteral(SERVER));
        SocketDevice client = roce(CLIENT);
        List<ForgedRequests> hosts = new ArrayList<>();
        for (int i = 1; i <= 100; i++) {
            hosts.add(kept(new ForgedRequests("127.0.9." + i)));
        }
        AtomicInteger sent = new AtomicInteger();
        Thread flood = Thread.ofPlatform().daemon().start(() -> flood(listener, hosts, sent));
        try {
            long deadline = System.nanoTime() + LONG.toNanos();
            while (sent.get() < 300) {
                assertThat(System.nanoTime() - deadline).isNegative();
                Thread.onSpinWait();
            }
            honestClientsConnect(client, listener, honest, soon);
        } finally {
            flood.interrupt();
            flood.join();
        }
        int answers = 0;
        for (ForgedRequests each : hosts) {
            answers += each.received();
        }
        assertThat(answers).isBetween(1, 3 * sent.get());
    }

    /// 145 a second.
    private static void flood(RsListener listener, List<ForgedRequests> hosts, AtomicInteger sent) {
        long begin = System.nanoTime();
        try {
            while (!Thread.currentThread().isInterrupted()) {
                int number = sent.getAndIncrement();
                hosts.get(number % hosts.size()).send(listener.localAddress(), number + 1);
                LockSupport.parkNanos(begin + number * 6_900_000L - System.nanoTime());
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aBurstOfClientsWaitsForItsTurn() throws Exception {
        manyAtOnce(device("soft0"), device("soft0"), InetAddress.getLoopbackAddress(), 150);
    }

    @Test
    @Tag("slow")
    void aThousandClientsWaitForTheirTurn() throws Exception {
        manyAtOnce(device("soft0"), device("soft0"), InetAddress.getLoopbackAddress(), 1000);
    }

    @Test
    void aBurstOfClientsOverRoceWaitsForItsTurn() throws Exception {
        manyAtOnce(roce(SERVER), roce(CLIENT), InetAddress.ofLiteral(SERVER), 150);
    }

    @Test
    @Tag("slow")
    void aThousandClientsOverRoceWaitForTheirTurn() throws Exception {
        manyAtOnce(roce(SERVER), roce(CLIENT), InetAddress.ofLiteral(SERVER), 1000);
    }

    private void manyAtOnce(SocketDevice serving, SocketDevice calling, InetAddress address, int count)
            throws Exception {
        RsListener listener = server(serving, address);
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Long>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                clients.add(threads.submit(() -> {
                    start.await();
                    return connect(calling, listener);
                }));
            }
            start.countDown();
        }
        for (Future<Long> each : clients) {
            each.get();
        }
    }
}
