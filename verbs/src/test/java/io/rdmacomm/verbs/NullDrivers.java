package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.testing.DeviceStub;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.RouteDriver;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Drivers that accept everything and do nothing, so that tests see what the layer above all providers does by itself.
/// Tests say what has completed and arrived, and see what reached the drivers.
final class NullDrivers extends DeviceStub {
    static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174);

    /// By number.
    final Map<Integer, NullQueuePair> queuePairs = new HashMap<>();
    int nextNumber = 0x11;
    /// The newest.
    @Nullable
    NullSharedQueue sharedQueue;

    /// The handles of the channels in wait groups.
    final Set<Long> members = new HashSet<>();
    /// Is called when a channel is about to leave a wait group.
    Runnable onLeave = () -> {};
    private final Queue<ConnectionRequestDriver> requests = new ArrayDeque<>();

    NullDrivers() {
        super(
                "null",
                Map.of(
                        DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_DEPTH, 100L,
                        DeviceLimit.MAX_QUEUE_PAIR_DEPTH, 64L,
                        DeviceLimit.MAX_SGE, 4L,
                        DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, 1000L,
                        DeviceLimit.COMPLETION_VECTORS, 2L));
    }

    /// The next wait of any listener finds a request.
    void request() {
        requests.add(new NullEnd("connection request", "release request", new byte[0]));
    }

    @Override
    protected WaitGroupDriver createWaitGroup() {
        return new NullGroup();
    }

    @Override
    protected SharedReceiveQueueDriver createSharedReceiveQueue(SharedReceiveQueueOptions options) {
        sharedQueue = new NullSharedQueue(options);
        return sharedQueue;
    }

    @Override
    protected QueuePairDriver createQueuePair(QueuePairRequest request) {
        NullQueuePair queuePair = new NullQueuePair(nextNumber++, request);
        queuePairs.put(queuePair.number, queuePair);
        return queuePair;
    }

    @Override
    protected ConnectionManagerDriver openConnectionManager() {
        return new NullConnections();
    }

    private final class NullGroup extends DriverStub implements WaitGroupDriver {
        NullGroup() {
            super("wait group");
        }

        @Override
        public void add(CompletionChannelDriver channel) {
            members.add(channel.handle());
        }

        @Override
        public void remove(CompletionChannelDriver channel) {
            onLeave.run();
            members.remove(channel.handle());
        }

        @Override
        public long await(long timeoutNanos) {
            return events.isEmpty() ? 0 : events.remove();
        }

        @Override
        public void wakeUp() {}
    }

    final class NullSharedQueue extends DriverStub implements SharedReceiveQueueDriver {
        private final SharedReceiveQueueOptions options;
        Runnable whilePosting = () -> {};
        int size;
        volatile boolean gone;

        NullSharedQueue(SharedReceiveQueueOptions options) {
            super("shared receive queue");
            this.options = options;
        }

        @Override
        public int post(RequestChain receives, int first, int count) {
            assertThat(chained(receives, first)).as("receives in the chain").isEqualTo(count);
            whilePosting.run();
            return count;
        }

        @Override
        public void armLimit(int limit) {}

        @Override
        public SharedReceiveQueueOptions query() {
            return options;
        }

        @Override
        public long resize(int receives, long mostPosted) {
            size = receives;
            return 0;
        }

        @Override
        public void close() {
            gone = true;
        }
    }

    final class NullQueuePair extends DriverStub implements QueuePairDriver {
        final QueuePairOwner owner;
        final List<Long> sent = new ArrayList<>();
        final List<Long> received = new ArrayList<>();
        final List<Long> failed = new ArrayList<>();
        final List<QueuePairAttributes> changes = new ArrayList<>();
        final List<String> memberships = new ArrayList<>();
        final List<Long> plain = new ArrayList<>();
        int takeAtMost = Integer.MAX_VALUE;
        int plainAtMost;
        boolean rejectModify;

        @Nullable
        VerbException failure;

        private final int number;
        private final QueueSizes sizes;

        NullQueuePair(int number, QueuePairRequest request) {
            super("queue pair 0x" + Integer.toHexString(number) + "");
            this.number = number;
            this.sizes = request.sizes();
            this.owner = request.owner();
        }

        private void failIfTold() {
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public QueueSizes sizes() {
            return sizes;
        }

        @Override
        public void modify(
                QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
            if (rejectModify) {
                throw new VerbException("modify queue pair (ibv_modify_qp)", Errno.EIO, "the device is gone");
            }
            changes.add(change);
        }

        @Override
        public int postSends(RequestChain requests, int first, int count) {
            failIfTold();
            assertThat(chained(requests, first)).as("requests in the chain").isEqualTo(count);
            return take(requests, first, count, sent);
        }

        @Override
        public int postSends(SendRequest[] requests, int first, int count) {
            int taken = Math.min(count, plainAtMost);
            for (int i = first; i < first + taken; i++) {
                plain.add(requests[i].workId);
            }
            return taken;
        }

        @Override
        public int postReceives(RequestChain receives, int first, int count) {
            return take(receives, first, count, received);
        }

        private int take(RequestChain chain, int first, int count, List<Long> workIds) {
            return DeviceStub.take(chain, first, Math.min(count, takeAtMost), workIds);
        }

        @Override
        public void attach(Gid group, int lid) {
            failIfTold();
            memberships.add("attach " + group + " " + lid);
        }

        @Override
        public void detach(Gid group, int lid) {
            memberships.add("detach " + group + " " + lid);
        }

        @Override
        public void failurePolled(long workId) {
            failed.add(workId);
        }

        @Override
        public void close() {
            memberships.add("destroy");
        }
    }

    /// How many requests follow one another as a device reads them, from one on.
    private static int chained(RequestChain chain, int first) {
        int count = 1;
        long at = chain.at(first);
        while (chain.segment().get(JAVA_LONG, at + SendRequestLayout.NEXT) != 0) {
            at = chain.segment().get(JAVA_LONG, at + SendRequestLayout.NEXT)
                    - chain.segment().address();
            count++;
        }
        return count;
    }

    private final class NullConnections extends DriverStub implements ConnectionManagerDriver {
        NullConnections() {
            super("connection manager");
        }

        @Override
        public int privateDataLimit() {
            return 4;
        }

        @Override
        public ListenerDriver<ConnectionRequestDriver> listen(
                InetSocketAddress address, int backlog, IdentifierOptions options) {
            log.add("listen " + backlog);
            return new NullListener();
        }

        @Override
        public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
            log.add("resolve");
            return new NullEnd("route", "close route", new byte[0]);
        }

        @Override
        public void close() {
            log.add("close manager");
        }
    }

    private final class NullListener extends DriverStub implements ListenerDriver<ConnectionRequestDriver> {
        NullListener() {
            super("listener");
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public @Nullable ConnectionRequestDriver awaitRequest(long timeoutNanos) {
            return requests.poll();
        }
    }

    /// One end of a connection, in any of its stages.
    private final class NullEnd extends DriverStub implements RouteDriver, ConnectionRequestDriver, ConnectionDriver {
        private final String lastWords;
        private final byte[] privateData;
        private final CompletableFuture<String> ended = new CompletableFuture<>();

        NullEnd(String kind, String lastWords, byte[] privateData) {
            super(kind + "");
            this.lastWords = lastWords;
            this.privateData = privateData;
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return ADDRESS;
        }

        @Override
        public ConnectionFacts facts() {
            return new ConnectionFacts(ADDRESS, ADDRESS, privateData, 1, 1);
        }

        @Override
        public void prepare(QueuePair queuePair) {
            queuePair.modify(QueuePairFixture.init());
        }

        @Override
        public ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            return new NullEnd("connection", "close connection", parameters.privateData());
        }

        @Override
        public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            return connect(queuePair, parameters, timeoutNanos);
        }

        @Override
        public void reject(byte[] with) {
            log.add("reject with " + with.length + " bytes");
        }

        @Override
        public @Nullable String disconnectReason() {
            return ended.getNow(null);
        }

        @Override
        public void disconnect() {
            ended.complete("disconnected here");
        }

        @Override
        public CompletableFuture<String> ended() {
            return ended;
        }

        @Override
        public void close() {
            log.add(lastWords);
        }
    }
}
