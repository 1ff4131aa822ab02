package io.rdmacomm.tests.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.SteppedClasses;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// A process is killed or stopped after each of its steps, see [SteppedClasses], and its peer survives.
@ExtendWith(LeakCheck.class)
@Tag("slow")
class StepTest {
    /// Most of the time they wait.
    private static final int LANES = 4;
    /// How the cases begin that are to run.
    private static final String WANTED = System.getProperty("rdma.test.steps", "");

    @TempDir
    private Path classes;

    /// [SteppedClasses] has the steps of shared memory and of TCP.
    static Stream<Fabric> fabrics() {
        return Fabric.betweenProcesses()
                .filter(EnumSet.of(Fabric.SOFT_TWO_PROCESSES, Fabric.TCP_TWO_PROCESSES)::contains);
    }

    static Stream<Arguments> actions() {
        return fabrics()
                .flatMap(fabric -> Arrays.stream(PeerAction.values())
                        .filter(action -> WANTED.isEmpty() || (WANTED + " ").startsWith(action.name() + " "))
                        .map(action -> Arguments.of(fabric, action)));
    }

    @ParameterizedTest
    @MethodSource("actions")
    @Tag("long")
    @Timeout(value = 60, unit = TimeUnit.MINUTES)
    void everyStep(Fabric fabric, PeerAction action) throws Exception {
        run(fabric, cases(fabric, List.of(action)));
    }

    @ParameterizedTest
    @MethodSource("fabrics")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void someSteps(Fabric fabric) throws Exception {
        long seed = System.nanoTime();
        System.out.println("StepTest: seed " + seed);
        List<Case> all = cases(fabric, List.of(PeerAction.values()));
        List<Case> some = new Random(seed)
                .ints(Amount.of(200, 10), 0, all.size())
                .mapToObj(all::get)
                .toList();
        run(fabric, some);
    }

    /// A process whose connection has ended, and that connects again, dies in the middle of a completion.
    @ParameterizedTest
    @MethodSource("fabrics")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void deathAfterAParting(Fabric fabric) {
        assumeTrue(
                PeerFault.STOPPED_AND_PARTED.existsWith(fabric.sharesMemory()), "here a connection ends with its link");
        List<Case> polling = cases(fabric, List.of(PeerAction.SEND_TO_SHARED_RECEIVES)).stream()
                .filter(each -> !each.events() && each.place().startsWith("CompletionFields.writeTo"))
                .toList();
        Tally tally = new Tally(fabric);
        for (PeerFault fault : new PeerFault[] {PeerFault.KILLED, PeerFault.STOPPED_AND_KILLED}) {
            Queue<Case> both = new ConcurrentLinkedQueue<>();
            both.add(lastWith(PeerFault.STOPPED_AND_PARTED, polling));
            both.add(lastWith(fault, polling));
            run(fabric, both, tally);
        }
        assertThat(tally.violations()).isEmpty();
    }

    private static Case lastWith(PeerFault fault, List<Case> cases) {
        return cases.reversed().stream()
                .filter(each -> each.fault() == fault)
                .findFirst()
                .orElseThrow();
    }

    /// All steps of these actions, with all that can happen after them.
    private List<Case> cases(Fabric fabric, List<PeerAction> actions) {
        SteppedClasses.write(classes, fabric.sharesMemory());
        List<Case> cases = new ArrayList<>();
        try (Lane lane = new Lane(fabric, classes)) {
            for (PeerAction action : actions) {
                for (boolean events : new boolean[] {false, true}) {
                    List<String> places = lane.steps(action, events);
                    for (PeerFault fault : PeerFault.values()) {
                        for (int step = 1; fault.existsWith(fabric.sharesMemory()) && step <= places.size(); step++) {
                            cases.add(new Case(action, fault, events, step, places.get(step - 1)));
                        }
                    }
                }
            }
        }
        return cases;
    }

    private void run(Fabric fabric, List<Case> cases) throws Exception {
        Queue<Case> left = new ConcurrentLinkedQueue<>(cases);
        left.removeIf(each -> !each.toString().startsWith(WANTED));
        Tally tally = new Tally(fabric);
        List<Future<?>> lanes = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(LANES)) {
            for (int i = 0; i < LANES; i++) {
                lanes.add(threads.submit(() -> run(fabric, left, tally)));
            }
        }
        for (Future<?> lane : lanes) {
            lane.get();
        }
        tally.print();
        assertThat(tally.violations()).isEmpty();
    }

    private void run(Fabric fabric, Queue<Case> left, Tally tally) {
        try (Lane lane = new Lane(fabric, classes)) {
            for (Case next = left.poll(); next != null; next = left.poll()) {
                tally.add(next, lane.run(next));
            }
        }
    }
}
