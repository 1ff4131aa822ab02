package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/// The tests have the names, sizes and counts of rstream.
class StreamTestTest {
    private static List<String> names(List<StreamTest> tests) {
        return tests.stream().map(StreamTest::name).toList();
    }

    @Test
    void theUsualSizes() {
        assertThat(names(StreamTest.latency(false))).containsExactly("64_lat", "4k_lat", "64k_lat", "1m_lat");
        assertThat(StreamTest.bandwidth(false))
                .containsExactly(
                        new StreamTest("64_bw", 64, 100_000, 1),
                        new StreamTest("4k_bw", 4096, 10_000, 1),
                        new StreamTest("64k_bw", 65_536, 1000, 1),
                        new StreamTest("1m_bw", 1 << 20, 100, 1));
    }

    @Test
    void allSizes() {
        List<StreamTest> all = StreamTest.latency(true);
        assertThat(all).hasSize(33).first().isEqualTo(new StreamTest("64_lat", 64, 1, 100_000));
        assertThat(names(all)).contains("192_lat", "1.5k_lat", "12k_lat", "1.5m_lat", "4m_lat", "6m_lat");
        assertThat(all.getLast()).isEqualTo(new StreamTest("6m_lat", 6 << 20, 1, 100));
    }

    @Test
    void bothDirectionsCount() {
        assertThat(StreamTest.custom(1000, 20, 3).totalBytes()).isEqualTo(120_000);
        assertThat(StreamTest.custom(1 << 30, 1_000_000_000, 1).totalBytes()).isPositive();
    }
}
