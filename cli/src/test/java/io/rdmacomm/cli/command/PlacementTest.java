package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.command.Placement.Halves;
import org.junit.jupiter.api.Test;

class PlacementTest {
    @Test
    void eachEndGetsHalfOfTheProcessors() {
        assertThat(Halves.of("0-1")).contains(new Halves("0", "1"));
        assertThat(Halves.of("0-3,8,10")).contains(new Halves("0,1,2", "3,8,10"));
        assertThat(Halves.of("2,5-6")).contains(new Halves("2", "5,6"));
    }

    @Test
    void oneProcessorIsNotDivided() {
        assertThat(Halves.of("3")).isEmpty();
        assertThat(Halves.of("")).isEmpty();
    }

    @Test
    void aProcessThatHasEndedIsNotPlaced() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();

        try (Placement placement = Placement.apart(ended.toHandle())) {
            assertThat(placement.toString()).startsWith("chosen by the kernel: ");
        }
    }
}
