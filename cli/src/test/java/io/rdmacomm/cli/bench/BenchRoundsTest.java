package io.rdmacomm.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class BenchRoundsTest {
    @Test
    void aRoundHasAllArgumentsButThoseAboutTheResult() {
        List<String> typed = List.of(
                "bench",
                "--tests",
                "write_lat",
                "--rounds",
                "5",
                "--json=out.json",
                "--baseline",
                "old.json",
                "-s",
                "8");

        assertThat(BenchRounds.ofOneRound(typed))
                .containsExactly("bench", "--tests", "write_lat", "-s", "8", "--json", "-");
    }
}
