package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Messages that are lost are counted, and nobody waits for them forever.
@Timeout(60)
class UnreliableTrialTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);
    private static final int COUNT = 3;
    /// On a busy machine a thread may stand still for longer than the usual time.
    private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static TrialPlan plan(BenchTest test, long bytes) {
        return new TrialPlan(test, bytes, 1, 0, 32, false, 7, null, TransportService.UD);
    }

    private static UnreliablePair pair(ServerSession session, TrialPlan plan) {
        return new UnreliablePair(
                session.context(), plan, UnreliableServer.path(session, InetAddress.getLoopbackAddress()));
    }

    /// Connects two pairs with each other.
    private static void connect(UnreliablePair one, UnreliablePair other) {
        one.connect(other.address(""));
        other.connect(one.address(""));
    }

    @Test
    void whatFindsNoReceiveIsLostAndNotMissedLater() {
        TrialPlan plan = plan(BenchTest.SEND_BW, 4096);
        try (ServerSession session = ServerSession.listen(OPTIONS);
                UnreliablePair from = pair(session, plan);
                UnreliablePair to = pair(session, plan)) {
            connect(from, to);
            UnreliableWait sending = new UnreliableWait(from);
            UnreliableWait receiving = new UnreliableWait(to);
            from.begin(1, 0);
            to.begin(1, 0);
            for (int i = 0; i < 3000; i++) {
                sending.forSends(from.depth() - 1);
                from.post(1);
            }
            sending.forSends(0);

            assertThat(receiving.forMessages(from.sent())).isFalse();

            assertThat(from.sent()).isEqualTo(3000);
            assertThat(to.received()).isBetween(1L, 2999L);
            to.verify();
            from.begin(2, 0);
            to.begin(2, 0);
            from.post(COUNT);
            assertThat(receiving.forMessages(COUNT)).isTrue();
            assertThat(to.received()).isEqualTo(COUNT);
        }
    }

    @Test
    void aLateMessageIsOneOfItsOwnStep() throws InterruptedException {
        TrialPlan plan = plan(BenchTest.SEND_LAT, 64);
        try (ServerSession session = ServerSession.listen(OPTIONS);
                UnreliablePair from = pair(session, plan);
                UnreliablePair to = pair(session, plan)) {
            connect(from, to);
            from.begin(1, 0);
            from.post(1);
            new UnreliableWait(from).forSends(0);
            Thread.sleep(100);
            from.begin(2, 0);
            to.begin(2, 0);
            from.post(1);

            assertThat(new UnreliableWait(to).forMessages(2)).isFalse();
            assertThat(to.received()).isOne();
        }
    }

    /// A server whose answers the network loses.
    private static final class LossyServer implements Runnable {
        private final ServerSession session;
        private final boolean all;
        private final long lostNanos;

        /// @param all whether all messages are lost, or only the answers of every other step
        LossyServer(ServerSession session, boolean all, long lostNanos) {
            this.session = session;
            this.all = all;
            this.lostNanos = lostNanos;
        }

        @Override
        public void run() {
            try (EndPoint client = session.accept(Duration.ofSeconds(10));
                    FrameChannel<BenchMessage> control = BenchMessage.over(session, client.channel(0))) {
                TrialPlan plan = TrialPlan.of(control.receive());
                control.send(Frame.of(BenchMessage.OK));
                try (UnreliablePair pair = pair(session, plan)) {
                    pair.connect(control.receive());
                    control.send(pair.address(""));
                    Frame<BenchMessage> request = control.receive();
                    for (int step = 1; request.kind() == BenchMessage.STEP; step++) {
                        step(control, pair, all ? -step : step, step % 2 == 1);
                        request = control.receive();
                    }
                }
                control.send(Frame.of(BenchMessage.OK));
            } catch (PeerDoneException _) {
                // The client has given up.
            }
        }

        /// @param number a wrong one if every message counts as lost
        private void step(FrameChannel<BenchMessage> control, UnreliablePair pair, int number, boolean losesAnswer) {
            UnreliableWait waits = new UnreliableWait(pair, lostNanos);
            pair.begin(number, 0);
            control.send(Frame.of(BenchMessage.READY));
            for (int i = 1; i <= COUNT && waits.forMessages(i) && !losesAnswer; i++) {
                pair.post(1);
                waits.forSends(0);
            }
            control.expect(BenchMessage.DONE, BenchMessage.FAILED);
            long sent = losesAnswer ? pair.received() : pair.sent();
            control.send(Frame.of(BenchMessage.REPORT, 0, 0, 0, sent, pair.received()));
        }
    }

    private interface Use {
        void with(Trial trial);
    }

    private static void withLossyServer(boolean all, long lostNanos, Use use) throws InterruptedException {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            Thread serving = Thread.ofVirtual().start(new LossyServer(server, all, lostNanos));
            SessionOptions options = OPTIONS.withPort(server.port());
            try (ClientSession session = ClientSession.connect(options);
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0));
                    Trial trial =
                            UnreliableTrial.open(control, session, options, plan(BenchTest.SEND_LAT, 64), lostNanos)) {
                use.with(trial);
            }
            serving.join();
        }
    }

    @Test
    void aLossEndsTheStepAndTheNextOneGoesOn() throws InterruptedException {
        withLossyServer(false, LOST_NANOS, trial -> {
            Readings readings = Readings.ofEach(COUNT);

            trial.step(COUNT, StepMode.MEASURE, readings);
            assertThat(trial.completed()).isZero();
            assertThat(trial.losses()).isEqualTo(new Result.Losses(2, 1));

            trial.step(COUNT, StepMode.MEASURE, readings);
            assertThat(trial.completed()).isEqualTo(COUNT);
            assertThat(trial.losses()).isEqualTo(new Result.Losses(2 + 2 * COUNT, 1 + 2 * COUNT));
            LatencySamples samples = new LatencySamples(2, 1);
            readings.addTo(samples);
            assertThat(samples.count()).isEqualTo(COUNT);
            assertThat(samples.maxMicros()).isLessThan(LOST_NANOS / 1000.0);
        });
    }

    @Test
    void aNetworkThatCarriesNothingIsReported() throws InterruptedException {
        withLossyServer(true, UnreliableWait.LOST_NANOS, trial -> {
            Readings readings = Readings.ofEach(COUNT);
            assertThatThrownBy(() -> {
                        while (true) {
                            trial.step(COUNT, StepMode.CHECK, readings);
                            assertThat(trial.completed()).isZero();
                        }
                    })
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("no message of send_lat over ud arrived in 20 attempts");
        });
    }

    @Test
    void aPlanIsCheckedOnTheOtherSideAsWell() {
        assertThatThrownBy(() -> plan(BenchTest.READ_LAT, 8))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("read_lat cannot run over ud");
        assertThatThrownBy(() -> plan(BenchTest.SEND_LAT, 4097))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("out of range");
    }
}
