package io.rdmacomm.tests.steps;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.SteppedClasses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// A process that reads under a lease is stopped or killed after each of its steps, and the owner of the memory uses
/// it for another value. Then the process either has the value that it was told of, or knows that it has not.
@ExtendWith(LeakCheck.class)
@Tag("slow")
final class LeaseStepsTest {
    private static final int SIGKILL = 9;
    private static final int SIGSTOP = 19;
    private static final int TURNS = 20;

    @TempDir
    private Path classes;

    static Stream<Fabric> fabrics() {
        return StepTest.fabrics();
    }

    @ParameterizedTest
    @MethodSource("fabrics")
    @Tag("long")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void stoppedAfterEachStep(Fabric fabric) throws IOException {
        stopped(fabric, Integer.MAX_VALUE);
    }

    @ParameterizedTest
    @MethodSource("fabrics")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void stoppedAfterSomeSteps(Fabric fabric) throws IOException {
        stopped(fabric, Amount.of(40, 10));
    }

    private void stopped(Fabric fabric, int most) throws IOException {
        SteppedClasses.write(classes, fabric.sharesMemory());
        long seed = System.nanoTime();
        System.out.println("LeaseStepsTest: seed " + seed);
        TreeMap<String, Integer> outcomes = new TreeMap<>();
        int stops = 0;
        try (LeaseOwner owner = new LeaseOwner(fabric.device());
                LeaseHolder holder = new LeaseHolder(classes, fabric.device(), owner.port())) {
            for (int step : steps(stepsOf(holder), most, new Random(seed))) {
                holder.begin(step, SIGSTOP);
                // A turn has not always as many steps.
                Deadline.await("a stop after step " + step, () -> holder.isStopped() || isDone(holder));
                boolean stopped = holder.isStopped();
                if (stopped) {
                    stops++;
                    owner.replace();
                    holder.thaw();
                }
                String outcome = holder.outcome()[0];
                outcomes.merge(outcome, 1, Integer::sum);
                assertThat(outcome)
                        .as("%s, seed %d, step %d, stopped: %b", fabric, seed, step, stopped)
                        .isIn("right", "expired", "absent");
                assertThat(owner.isConnected()).as("step %d", step).isTrue();
            }
        }
        System.out.println(fabric + ": " + stops + " stops, " + outcomes);
        assertThat(outcomes.getOrDefault("expired", 0)).isPositive();
    }

    private static int[] steps(int count, int most, Random random) {
        return most >= count
                ? IntStream.rangeClosed(1, count).toArray()
                : random.ints(most, 1, count + 1).toArray();
    }

    /// A warm turn has about the same number of steps each time.
    private static int stepsOf(LeaseHolder holder) throws IOException {
        int steps = 0;
        for (int turn = 0; turn < TURNS; turn++) {
            holder.begin(0, 0);
            String[] outcome = holder.outcome();
            assertThat(outcome[0]).isIn("right", "expired");
            steps = Integer.parseInt(outcome[1]);
        }
        return steps;
    }

    private static boolean isDone(LeaseHolder holder) {
        try {
            return holder.isDone();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SOFT_TWO_PROCESSES", "TCP_TWO_PROCESSES"})
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void aHolderThatDiesKeepsNoMemory(Fabric fabric) throws IOException {
        SteppedClasses.write(classes, fabric.sharesMemory());
        Random random = new Random();
        try (LeaseOwner owner = new LeaseOwner(fabric.device())) {
            for (int i = 0; i < Amount.of(5, 2); i++) {
                try (LeaseHolder holder = new LeaseHolder(classes, fabric.device(), owner.port())) {
                    int steps = stepsOf(holder);
                    holder.begin(1 + random.nextInt(steps), SIGKILL);
                    assertThat(holder.outcome()[0]).isIn("dead", "right", "expired");
                }
                owner.replace();
            }
            try (LeaseHolder next = new LeaseHolder(classes, fabric.device(), owner.port())) {
                stepsOf(next);
            }
        }
        // The next context to open removes the files of killed processes.
        LocalEnd.open(fabric.device()).close();
    }
}
