package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MachineLoadTest {
    @Test
    void otherProgramsAreNoticed() throws Exception {
        List<Process> loops = new ArrayList<>();
        try {
            for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
                loops.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
            }

            MachineLoad load = MachineLoad.now();

            assertThat(load.isHigh()).as("%s", load).isTrue();
            assertThat(load.toMap()).containsEntry("high", true);
        } finally {
            for (Process loop : loops) {
                loop.destroyForcibly().waitFor();
            }
        }
    }

    @Test
    void theLimitsSayWhatIsHigh() {
        assertThat(new MachineLoad(0.1, 0.01, 2).isHigh()).isFalse();
        assertThat(new MachineLoad(0.5, 0, 2).isHigh()).isTrue();
        assertThat(new MachineLoad(0, 0.1, 2).isHigh()).isTrue();
        assertThat(MachineLoad.UNKNOWN.isHigh()).isFalse();
        assertThat(new MachineLoad(1.5, 0.042, 2))
                .hasToString("other programs use 1.5 of 2 processors, and the hypervisor takes 4 % of the time");
    }
}
