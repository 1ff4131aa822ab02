package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.RdmaException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The memory of messages that rank 0 sends: it must not change while a device may still read it. Ranks 1 and
/// 2 take messages of different lengths.
final class RankConnectionsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int SHORT = 128;
    private static final int LONG = 512;
    private static final CollectiveOptions OPTIONS =
            CollectiveOptions.defaults().withSlots(2).withSlotBytes(256).withMessageBytes(64);

    private final ServerSession session = ServerSession.listen(options(LONG).withAddress("127.0.0.1", 0));
    private final List<ClientSession> peers = new ArrayList<>();
    private final List<EndPoint> endPoints = new ArrayList<>();
    private final CallLog log = new CallLog(0);
    private final RankConnections connections;

    RankConnectionsTest() {
        for (int bytes : new int[] {SHORT, LONG}) {
            peers.add(ClientSession.connect(options(bytes).withAddress("127.0.0.1", session.port())));
            endPoints.add(session.accept(TIMEOUT));
        }
        CollectiveGroup group = new Group();
        connections = new RankConnections(group, OPTIONS, log, new Waiting(group, log, () -> {}));
        log.begin(0, 0);
    }

    private static SessionOptions options(int messageBytes) {
        return SessionOptions.defaults()
                .withDevice("soft0")
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(ChannelOptions.defaults().withMessageBytes(messageBytes));
    }

    private final class Group implements CollectiveGroup {
        @Override
        public int rank() {
            return 0;
        }

        @Override
        public int size() {
            return 3;
        }

        @Override
        public RdmaChannel channel(int peer) {
            return endPoints.get(peer - 1).channel(0);
        }

        @Override
        public Session session() {
            return session;
        }

        @Override
        public void checkOpen() {}

        @Override
        public RdmaException gone(int peer) {
            return new RdmaException("rank " + peer + " has gone", null);
        }

        @Override
        public boolean isKnownToAll(Throwable failure) {
            return false;
        }
    }

    @AfterEach
    void close() {
        try (session) {
            peers.forEach(ClientSession::close);
        }
    }

    private RdmaChannel channel(int rank) {
        return peers.get(rank - 1).endPoint().channel(0);
    }

    private Message receive(int rank) {
        return channel(rank).blocking(TIMEOUT).receive();
    }

    /// Another length for each peer would change the length of the message in the same memory.
    @Test
    void theReasonForTheEndIsTheSameMessageForAllPeers() {
        connections.sendEnd(new CollectiveFault(CollectiveFault.OTHER, "because ".repeat(40)));

        try (Message first = receive(1);
                Message second = receive(2)) {
            assertThat(first.length()).isEqualTo(SHORT);
            assertThat(Notice.bytes(first.block())).isEqualTo(SHORT - Notice.BYTES);
            assertThat(first.segment().mismatch(second.segment())).isEqualTo(-1);
        }
    }

    /// Its memory is free when the completion has arrived, for which this rank must poll.
    @Test
    void theCallThatARankWaitsInIsNotChangedOnItsWay() {
        connections.sendState();
        log.begin(1, 1);
        connections.sendState();
        Deadline.await("the end of the first messages", () -> {
            session.poll();
            return endPoints.stream().allMatch(endPoint -> endPoint.channel(0).inFlight() == 0);
        });
        log.begin(2, 2);
        connections.sendState();

        for (int rank = 1; rank <= 2; rank++) {
            try (Message first = receive(rank);
                    Message second = receive(rank)) {
                assertThat(Notice.type(first.block())).isEqualTo(Notice.STATE);
                assertThat(Notice.count(first.block())).isZero();
                assertThat(Notice.count(second.block())).isEqualTo(2);
            }
        }
    }
}
