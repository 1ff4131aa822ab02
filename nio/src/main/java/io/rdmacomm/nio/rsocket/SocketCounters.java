package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.counters.CounterSource;
import io.rdmacomm.verbs.counters.CountersPublisher;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Publishes the counters of the rsockets of a device in the counters file of the process, which `rdmacomm top` shows.
/// Thread-safe.
final class SocketCounters implements CounterSource, AutoCloseable {
    private static final int INTERVAL_SECONDS = 1;
    /// Starts far from the numbers of sessions and their channels, which are near zero.
    private static final AtomicLong NUMBERS = new AtomicLong(1L << 62);

    private final String name;
    private final long number = NUMBERS.incrementAndGet();
    private final Map<RsConnection, Names> connections = new ConcurrentHashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    private record Names(long number, String peer, String local) {}

    /// @param device the name of the device
    SocketCounters(String device) {
        this.name = "sockets on " + device;
    }

    /// Starts publishing after one interval, so that it does not compete with the first connection for processors.
    void start() {
        var _ = Thread.ofVirtual().name("rsocket-counters").start(this::publish);
    }

    private void publish() {
        try {
            if (!closed.await(INTERVAL_SECONDS, TimeUnit.SECONDS)) {
                CountersPublisher.PROCESS.add(this);
                do {
                    CountersPublisher.PROCESS.tick();
                } while (!closed.await(INTERVAL_SECONDS, TimeUnit.SECONDS));
                CountersPublisher.PROCESS.remove(this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void add(RsConnection connection, Connection addresses) {
        connections.put(
                connection,
                new Names(NUMBERS.incrementAndGet(), text(addresses.remoteAddress()), text(addresses.localAddress())));
    }

    void remove(RsConnection connection) {
        connections.remove(connection);
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    @Override
    public List<PublishedChannel> records() {
        List<PublishedChannel> records = new ArrayList<>();
        connections.forEach((connection, names) -> records.add(record(names, connection.statistics())));
        if (records.isEmpty()) {
            records.add(new PublishedChannel(number, name, "", "", 0, new ChannelStatistics()));
        }
        return records;
    }

    private PublishedChannel record(Names names, ChannelStatistics statistics) {
        long ended = statistics.value(ChannelCounter.COMPLETED) + statistics.value(ChannelCounter.FAILED);
        long inFlight = Math.max(0, statistics.value(ChannelCounter.OPERATIONS) - ended);
        return new PublishedChannel(names.number(), name, names.peer(), names.local(), inFlight, statistics);
    }

    @Override
    public void close() {
        closed.countDown();
        CountersPublisher.PROCESS.remove(this);
    }
}
