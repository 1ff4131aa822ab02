package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.HelperProcess;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The network is cut: no FIN, no RST. Peers are given up all the same, idle ones too.
@Tag("slow")
@ExtendWith(LeakCheck.class)
class SilentHostTest {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String DIRECTORY = "rdmacomm.soft.directory";
    private static final String ATTENTIVE = "attentive";
    private static final String CARELESS = "careless";
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(4), 7);

    private final String devices = System.getProperty(DEVICES);
    private FarNamespace far;
    private Path folder;

    @BeforeEach
    void reach() throws Exception {
        far = FarNamespace.orLeaveOut(SilentHostTest.class);
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "rdmacomm-far-");
    }

    @AfterEach
    void restore() throws Exception {
        if (devices != null) {
            System.setProperty(DEVICES, devices);
        } else {
            System.clearProperty(DEVICES);
        }
        if (folder != null) {
            try (Stream<Path> left = Files.walk(folder)) {
                for (Path each : left.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }

    /// The first one notices silence soon, the other one practically never.
    private static String devicesAt(String address, String transport) {
        String at = "=" + address + "?transport=" + transport + "&silence=";
        return ATTENTIVE + at + "4," + CARELESS + at + "30000";
    }

    private HelperProcess startFar(String transport) {
        System.setProperty(DEVICES, devicesAt(far.near(), transport));
        return far.start(devicesAt(far.far(), transport), folder);
    }

    private static void writeOnce(LocalEnd here, End there, LocalQueue mine, EndQueue theirs, ConnectionOptions how) {
        mine.connect(theirs.info(), how);
        theirs.connect(mine.info(), how);
        LocalMemory source = here.allocate(64, AccessFlag.allRemote());
        EndMemory target = there.allocate(64, AccessFlag.allRemote());
        mine.post(Work.write(1, target.remote(), source.piece(0, 8)));
        assertThat(mine.one().status()).isEqualTo(WorkStatus.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "roce"})
    void idleQueuePairsFail(String transport) {
        try (HelperProcess process = startFar(transport);
                LocalEnd here = LocalEnd.open(ATTENTIVE);
                End there = process.host().open(ATTENTIVE)) {
            LocalQueue mine = here.queue(Spec.usual());
            EndQueue theirs = there.queue(Spec.usual());
            writeOnce(here, there, mine, theirs, PATIENT);
            far.awaitConfirmed();
            far.cut();
            try {
                Deadline.await("the queue pair fails", () -> mine.state() == QueuePairState.ERROR);
                Deadline.await("the other side's fails", () -> theirs.state() == QueuePairState.ERROR);
            } finally {
                far.mend();
            }
        }
    }

    /// Nobody answers questions over RoCE for a process that is gone.
    @Test
    @SuppressWarnings("try") // its process is killed, so it cannot be closed
    void overRoceAnIdleQueuePairFailsWhenTheProcessOfItsPeerIsKilled() {
        HelperProcess process = startFar("roce");
        try (LocalEnd here = LocalEnd.open(ATTENTIVE)) {
            End there = process.host().open(ATTENTIVE);
            LocalQueue mine = here.queue(Spec.usual());
            writeOnce(here, there, mine, there.queue(Spec.usual()), PATIENT);
            mine.receive(2);
            process.kill();
            assertThat(mine.one().status()).isEqualTo(WorkStatus.FLUSHED);
            assertThat(mine.state()).isEqualTo(QueuePairState.ERROR);
        } finally {
            process.kill();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "roce"})
    void idleSessionsFail(String transport) throws Exception {
        System.setProperty(DEVICES, devicesAt(far.near(), transport));
        // The session's queue pairs do not notice it: its TCP connection has to.
        SessionOptions options = SessionOptions.defaults()
                .withAddress(far.near(), 0)
                .withDevice(CARELESS)
                .withDeadlines(Deadlines.defaults().withSilence(Duration.ofSeconds(4)));
        String theirs = CARELESS + "=" + far.far() + "?transport=" + transport;
        try (ServerSession session = ServerSession.listen(options);
                PeerProgram client = PeerProgram.start(
                        far.launcher(),
                        Map.of(DEVICES, theirs, DIRECTORY, folder.toString()),
                        "client",
                        Integer.toString(session.port()),
                        far.near())) {
            EndPoint endPoint = session.accept(TIMEOUT);
            assertThat(client.readLine()).isEqualTo("ready");
            far.awaitConfirmed();
            far.cut();
            try {
                Deadline.await("the endpoint fails", () -> endPoint.state() == EndPointState.FAILED);
                assertThat(endPoint.failure()).satisfies(peer(PeerFailedException.Reason.GONE));
            } finally {
                far.mend();
            }
        }
    }

    /// Its retries are over long before, but a network may be slow for a moment.
    @Test
    void aRequestInFlightEndsAfterFiveSeconds() {
        try (HelperProcess process = startFar("iwarp");
                LocalEnd here = LocalEnd.open(CARELESS);
                End there = process.host().open(CARELESS)) {
            LocalQueue mine = here.queue(Spec.usual());
            EndQueue theirs = there.queue(Spec.usual());
            ConnectionOptions impatient = ConnectionOptions.defaults().withTimeout(Duration.ofMillis(50), 1);
            writeOnce(here, there, mine, theirs, impatient);
            assertThat(lostRequest(mine)).isGreaterThan(Duration.ofSeconds(4));
        }
    }

    @Test
    void overRoceARequestInFlightEndsWithItsRetries() {
        try (HelperProcess process = startFar("roce");
                LocalEnd here = LocalEnd.open(CARELESS);
                End there = process.host().open(CARELESS)) {
            LocalQueue mine = here.queue(Spec.usual());
            ConnectionOptions impatient = ConnectionOptions.defaults().withTimeout(Duration.ofMillis(268), 3);
            writeOnce(here, there, mine, there.queue(Spec.usual()), impatient);
            // 268 ms, 536 ms, and 1,072 ms.
            assertThat(lostRequest(mine)).isGreaterThan(Duration.ofSeconds(1));
        }
    }

    /// How long a request lives whose packets are lost.
    private Duration lostRequest(LocalQueue mine) {
        far.cut();
        try {
            long begin = System.nanoTime();
            mine.post(Work.write(2, new RemoteMemory(0, 0, 0)));
            assertThat(mine.one().status()).isEqualTo(WorkStatus.RETRY_EXCEEDED);
            assertThat(mine.state()).isEqualTo(QueuePairState.ERROR);
            return Duration.ofNanos(System.nanoTime() - begin);
        } finally {
            far.mend();
        }
    }
}
