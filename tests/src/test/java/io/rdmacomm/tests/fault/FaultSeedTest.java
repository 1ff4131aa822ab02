package io.rdmacomm.tests.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.WorkStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The same seed injects the same faults, whatever the threads do; and a seed that was chosen can be seen.
@ExtendWith(LeakCheck.class)
class FaultSeedTest {
    private static final String RULES = "fail=write:3%:RETRY_EXCEEDED&full=any:10%&delay=write:5%:0-1ms&seed=";
    private static final int QUEUE_PAIRS = 4;
    private static final int WRITES = 40;

    /// The results of the writes of some queue pairs, each used by a thread of its own.
    private static List<List<String>> run(String seed) {
        try (FaultLine line = new FaultLine(RULES + seed)) {
            List<LocalQueue> queues = new ArrayList<>();
            for (int i = 0; i < QUEUE_PAIRS; i++) {
                queues.add(line.connected().here());
            }
            List<CompletableFuture<List<String>>> runs = queues.stream()
                    .map(queue -> CompletableFuture.supplyAsync(() -> write(line, queue)))
                    .toList();
            return runs.stream().map(CompletableFuture::join).toList();
        }
    }

    private static List<String> write(FaultLine line, LocalQueue queue) {
        List<String> became = new ArrayList<>();
        for (int i = 1; i <= WRITES; i++) {
            while (queue.post(line.write(i)) == 0) {
                became.add("full");
            }
            Outcome outcome = queue.one();
            assertThat(outcome.id()).isEqualTo(i);
            became.add(outcome.status().name());
        }
        return became;
    }

    @Test
    void theSameSeedDoesTheSame() {
        List<List<String>> first = run("42");

        assertThat(run("42")).isEqualTo(first);
        assertThat(run("43")).isNotEqualTo(first);
        List<String> all = first.stream().flatMap(List::stream).toList();
        assertThat(all).contains("full", WorkStatus.SUCCESS.name(), WorkStatus.RETRY_EXCEEDED.name());
        assertThat(first.stream().distinct()).as("queue pairs differ").hasSizeGreaterThan(1);
    }

    @Test
    void aChosenSeedIsInTheName() {
        String given = "fault:soft0?fail=write:3%:RETRY_EXCEEDED";
        String name = Rdma.device(given).name();

        assertThat(name).matches("\\Q" + given + "\\E&seed=\\d+");
        assertThat(Rdma.device(name).name()).isEqualTo(name);
        assertThat(IntStream.range(0, 10)
                        .mapToObj(i -> Rdma.device(given).name())
                        .distinct())
                .as("seeds differ")
                .hasSizeGreaterThan(1);
        assertThat(Rdma.device("fault:soft0").name()).isEqualTo("fault:soft0");
        assertThat(Rdma.device("fault:soft0?fail=write:3:FLUSHED").name())
                .isEqualTo("fault:soft0?fail=write:3:FLUSHED");
    }
}
