package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.RetryOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TrialPlanTest {
    private static final BenchSettings SETTINGS = new BenchSettings(
            List.of(BenchTest.ATOMIC_LAT, BenchTest.READ_LAT, BenchTest.WRITE_BW),
            List.of(1L, 64L, 4096L),
            0,
            1,
            1,
            1,
            128,
            4,
            2,
            true,
            false,
            true,
            List.of(),
            TransportService.RC);

    private static TrialPlan plan(BenchTest test, long bytes) {
        return new TrialPlan(test, bytes, 1, 0, 128, false, 7, null, TransportService.RC);
    }

    private static TrialPlan planOf(BenchTest test) {
        return SETTINGS.plans().stream()
                .filter(plan -> plan.test() == test)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void severalModesAreMeasuredOneAfterTheOther() {
        BenchSettings settings = new BenchSettings(
                List.of(BenchTest.REQUEST_LAT),
                List.of(4096L),
                0,
                1,
                1,
                1,
                128,
                1,
                0,
                false,
                false,
                true,
                Modes.all(),
                TransportService.RC);

        assertThat(settings.plans()).extracting(TrialPlan::modes).containsExactlyElementsOf(Modes.all());
        assertThat(settings.plans()).extracting(TrialPlan::bytes).containsOnly(8L);
        assertThat(settings.blockingModes()).isNull();
    }

    @Test
    void socketsRunInTurnWithPlainTcp() {
        BenchSettings settings = new BenchSettings(
                List.of(BenchTest.TCP_BW, BenchTest.SOCKET_BW, BenchTest.SOCKET_REQUEST_LAT, BenchTest.TCP_LAT),
                List.of(64L, 4096L),
                0,
                1,
                1,
                1,
                128,
                4,
                2,
                true,
                false,
                true,
                List.of(),
                TransportService.RC);

        assertThat(settings.plans())
                .extracting(plan -> plan.test().label() + " " + plan.bytes() + " " + plan.channels())
                .containsExactly(
                        "socket_bw 64 1",
                        "tcp_bw 64 1",
                        "socket_bw 4096 1",
                        "tcp_bw 4096 1",
                        "socket_request_lat 8 1",
                        "tcp_request_lat 8 1",
                        "tcp_lat 64 1",
                        "tcp_lat 4096 1");
    }

    @Test
    void everyTestRunsWithEverySizeExceptAtomics() {
        assertThat(SETTINGS.sizes(BenchTest.ATOMIC_LAT)).containsExactly(8L);
        assertThat(SETTINGS.sizes(BenchTest.READ_LAT)).containsExactly(1L, 64L, 4096L);
        assertThat(SETTINGS.plans().size()).isEqualTo(1 + 3 + 3);
    }

    @Test
    void onlyBandwidthTestsUseSeveralQueuePairsInBothDirections() {
        TrialPlan latency = planOf(BenchTest.READ_LAT);
        TrialPlan bandwidth = planOf(BenchTest.WRITE_BW);

        assertThat(latency.queuePairs()).isEqualTo(1);
        assertThat(latency.bidirectional()).isFalse();
        assertThat(latency.channels()).isEqualTo(3);
        assertThat(bandwidth.queuePairs()).isEqualTo(4);
        assertThat(bandwidth.bidirectional()).isTrue();
        assertThat(bandwidth.channels()).isEqualTo(6);
    }

    @Test
    void aPlanSurvivesItsFrame() {
        TrialPlan plan =
                new TrialPlan(BenchTest.SEND_BW, 4096, 3, 2, 17, true, Long.MIN_VALUE, null, TransportService.UC);

        assertThat(TrialPlan.of(plan.toFrame())).isEqualTo(plan);
    }

    @Test
    void allModesSurviveTheirFrame() {
        assertThat(Modes.all()).hasSize(12);
        for (Modes modes : Modes.all()) {
            TrialPlan plan = new TrialPlan(BenchTest.READ_LAT, 8, 1, 0, 1, false, 7, modes, TransportService.RC);

            assertThat(TrialPlan.of(plan.toFrame())).isEqualTo(plan);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 13, Long.MAX_VALUE})
    void unknownModesOfAPeerAreRejected(long code) {
        Frame<BenchMessage> frame = Frame.of(BenchMessage.TRIAL, "send_lat", 8, 1, 0, 1, 0, 7, code);

        assertThatThrownBy(() -> TrialPlan.of(frame))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("no modes with number " + code);
    }

    @Test
    void aTestThatPollsHasNoModes() {
        Modes modes = Modes.all().getFirst();

        assertThatThrownBy(() -> new TrialPlan(BenchTest.WRITE_BW, 8, 1, 0, 1, false, 7, modes, TransportService.RC))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("write_bw polls");
    }

    @ParameterizedTest
    @CsvSource({
        "SEND_BW, 16777217, 1, 0, 1",
        "WRITE_BW, 0, 1, 0, 1",
        "WRITE_BW, 1073741825, 1, 0, 1",
        "WRITE_BW, 8, 0, 0, 1",
        "WRITE_BW, 8, 4294967297, 0, 1",
        "WRITE_BW, 8, 200, 57, 1",
        "WRITE_BW, 8, 1, -1, 1",
        "WRITE_BW, 8, 1, 0, 0",
        "WRITE_BW, 8, 1, 0, 16385",
    })
    void aPeerCannotExceedTheLimits(BenchTest test, long bytes, long queuePairs, long idle, long depth) {
        Frame<BenchMessage> frame =
                Frame.of(BenchMessage.TRIAL, test.label(), bytes, queuePairs, idle, depth, 0, 7, 0, 0);

        assertThatThrownBy(() -> TrialPlan.of(frame))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("of " + test.label() + " is out of range");
    }

    /// It once made the options of the defaults, so that data took another port, GID or MTU than was asked for.
    @ParameterizedTest
    @EnumSource(BenchTest.class)
    void aPlanChangesNothingThatWasAskedFor(BenchTest test) {
        ConnectionOptions asked = ConnectionOptions.defaults()
                .withPath(PathOptions.defaults()
                        .withPort(2)
                        .withGidIndex(3)
                        .withMtu(PathMtu.MTU_256)
                        .withQuality(4, 104)
                        .withHopLimit(9)
                        .withPartitionKeyIndex(1)
                        .withSubnetPath(2, 3))
                .withRetries(RetryOptions.defaults()
                        .withTimeout(new AckTimeout(17), 2)
                        .withReceiverNotReady(1, Duration.ofMillis(1)));
        ChannelOptions proposed = ChannelOptions.defaults().withInlineBytes(16).withConnection(asked);
        TrialPlan plan = new TrialPlan(test, 8, 1, 1, 16, false, 7, null, TransportService.RC);

        for (int index = 0; index < plan.channels(); index++) {
            ChannelOptions channel = plan.channel(index, proposed);

            assertThat(channel.connection()).isEqualTo(asked);
            assertThat(channel.inlineBytes()).isEqualTo(16);
        }
    }

    @Test
    void smallOperationsShareADoorbell() {
        assertThat(plan(BenchTest.WRITE_BW, 4096).chainLength()).isEqualTo(32);
        assertThat(plan(BenchTest.WRITE_BW, 4097).chainLength()).isEqualTo(1);
        assertThat(new TrialPlan(BenchTest.WRITE_BW, 8, 1, 0, 5, false, 7, null, TransportService.RC).chainLength())
                .isEqualTo(5);
    }

    @Test
    void buffersOfARingStartOnCacheLines() {
        assertThat(plan(BenchTest.WRITE_BW_RING, 65).stride()).isEqualTo(128);
        assertThat(plan(BenchTest.WRITE_BW_RING, 65).buffers()).isEqualTo(64);
        assertThat(plan(BenchTest.WRITE_BW_RING, 1 << 23).buffers()).isEqualTo(8);
        assertThat(plan(BenchTest.WRITE_BW_RING, 1 << 30).buffers()).isEqualTo(2);
        assertThat(plan(BenchTest.WRITE_BW, 65).buffers()).isEqualTo(1);
    }
}
