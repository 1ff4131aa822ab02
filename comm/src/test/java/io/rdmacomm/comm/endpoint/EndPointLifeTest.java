package io.rdmacomm.comm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.endpoint.EndPointLife.Action;
import io.rdmacomm.comm.endpoint.EndPointLife.Event;
import io.rdmacomm.comm.endpoint.EndPointLife.State;
import io.rdmacomm.comm.endpoint.EndPointLife.Transition;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every cell of the table, the paths through it, and what waits for it.
class EndPointLifeTest {
    /// The whole table: state, event, next state, what it starts. What is left out stays and starts nothing.
    private static final String TABLE = """
            CONNECTING                SET_UP             READY                     NONE
            CONNECTING                ABANDON            ABANDONED                 FREE
            CONNECTING                PEER_DONE          CONNECTING_PEER_DONE      NONE
            CONNECTING                FAILURE            FAILED                    END
            CONNECTING                CLOSE              ABANDONED                 FREE
            CONNECTING_PEER_DONE      SET_UP             PEER_DONE                 ANSWER
            CONNECTING_PEER_DONE      ABANDON            ABANDONED                 FREE
            CONNECTING_PEER_DONE      CLOSE              ABANDONED                 FREE
            READY                     ABANDON            ABANDONED                 FREE
            READY                     PEER_DONE          PEER_DONE                 ANSWER
            READY                     FAILURE            FAILED                    END
            READY                     CLOSE              CLOSING                   CLOSE_FIRST
            PEER_DONE                 ABANDON            ABANDONED                 FREE
            PEER_DONE                 SEND_DONE          PEER_DONE_ANSWERED        SEND_DONE
            PEER_DONE                 CLOSE              CLOSING_PEER_DONE         CLOSE_AFTER_PEER
            PEER_DONE_ANSWERED        ABANDON            ABANDONED                 FREE
            PEER_DONE_ANSWERED        SEND_INTERRUPTED   PEER_DONE                 NONE
            PEER_DONE_ANSWERED        CLOSE              CLOSING_BOTH_DONE         CLOSE_AFTER_PEER
            CLOSING                   PEER_DONE          CLOSING_PEER_DONE         NONE
            CLOSING                   SEND_DONE          CLOSING_DONE_SENT         SEND_DONE
            CLOSING                   FAILURE            FAILED_CLOSING            END
            CLOSING                   FREED              CLOSED                    NOTIFY_OWNER
            CLOSING_DONE_SENT         PEER_DONE          CLOSING_BOTH_DONE         NONE
            CLOSING_DONE_SENT         SEND_INTERRUPTED   CLOSING                   NONE
            CLOSING_DONE_SENT         FAILURE            FAILED_CLOSING            END
            CLOSING_DONE_SENT         FREED              CLOSED                    NOTIFY_OWNER
            CLOSING_PEER_DONE         SEND_DONE          CLOSING_BOTH_DONE         SEND_DONE
            CLOSING_PEER_DONE         FREED              CLOSED                    NOTIFY_OWNER
            CLOSING_BOTH_DONE         SEND_INTERRUPTED   CLOSING_PEER_DONE         NONE
            CLOSING_BOTH_DONE         FREED              CLOSED                    NOTIFY_OWNER
            FAILED                    SET_UP             FAILED                    STOP
            FAILED                    ABANDON            FAILED_CLOSING            FREE
            FAILED                    INCOMPLETE         FAILED_INCOMPLETE         NONE
            FAILED                    CLOSE              FAILED_CLOSING            FREE
            FAILED_INCOMPLETE         SET_UP             FAILED_INCOMPLETE         STOP
            FAILED_INCOMPLETE         ABANDON            FAILED_CLOSING_INCOMPLETE FREE
            FAILED_INCOMPLETE         FAILURE            FAILED                    END_AGAIN
            FAILED_INCOMPLETE         CLOSE              FAILED_CLOSING_INCOMPLETE FREE
            FAILED_CLOSING            INCOMPLETE         FAILED_CLOSING_INCOMPLETE NONE
            FAILED_CLOSING            FREED              FAILED_FREED              NOTIFY_OWNER
            FAILED_CLOSING_INCOMPLETE FAILURE            FAILED_CLOSING            END_AGAIN
            FAILED_CLOSING_INCOMPLETE FREED              FAILED_FREED              NOTIFY_OWNER
            """;

    /// The shortest events to each state.
    private static final Map<State, List<Event>> PATHS = paths();

    record Cell(State from, Event event, Transition expected) {}

    static Stream<Cell> cells() {
        return Arrays.stream(State.values())
                .flatMap(from -> Arrays.stream(Event.values()).map(event -> cell(from, event)));
    }

    private static Cell cell(State from, Event event) {
        for (String line : TABLE.lines().toList()) {
            List<String> words = Arrays.asList(line.strip().split(" +"));
            if (words.get(0).equals(from.name()) && words.get(1).equals(event.name())) {
                return new Cell(from, event, new Transition(State.valueOf(words.get(2)), Action.valueOf(words.get(3))));
            }
        }
        return new Cell(from, event, new Transition(from, Action.NONE));
    }

    private static Map<State, List<Event>> paths() {
        Map<State, List<Event>> paths = new EnumMap<>(State.class);
        Queue<State> next = new ArrayDeque<>(List.of(State.CONNECTING));
        paths.put(State.CONNECTING, List.of());
        for (State from = next.poll(); from != null; from = next.poll()) {
            for (Event event : Event.values()) {
                State to = cell(from, event).expected().next();
                if (!paths.containsKey(to)) {
                    List<Event> path = new ArrayList<>(paths.get(from));
                    path.add(event);
                    paths.put(to, path);
                    next.add(to);
                }
            }
        }
        return paths;
    }

    private static EndPointLife<String> in(State state) {
        EndPointLife<String> life = new EndPointLife<>();
        PATHS.get(state).forEach(event -> happen(life, event));
        assertThat(life.state()).isEqualTo(state);
        return life;
    }

    private static Action happen(EndPointLife<String> life, Event event) {
        return event == Event.FAILURE ? life.fail("broken") : life.on(event);
    }

    @Test
    void everyStateCanBeReached() {
        assertThat(PATHS).containsOnlyKeys(State.values());
    }

    @ParameterizedTest
    @MethodSource("cells")
    void everyCellIsAsWritten(Cell cell) {
        assertThat(EndPointLife.transition(cell.from(), cell.event())).isEqualTo(cell.expected());
        EndPointLife<String> life = in(cell.from());
        assertThat(happen(life, cell.event())).isEqualTo(cell.expected().starts());
        assertThat(life.state()).isEqualTo(cell.expected().next());
    }

    @ParameterizedTest
    @MethodSource("cells")
    void aFailureIsNeverOverwritten(Cell cell) {
        boolean failed = cell.from().name().startsWith("FAILED");
        boolean stays = cell.expected().next().name().startsWith("FAILED");
        assertThat(stays).isEqualTo(failed || cell.expected().starts() == Action.END);
    }

    @ParameterizedTest
    @MethodSource("cells")
    void everythingIsFreedOnce(Cell cell) {
        Set<State> freed = EnumSet.of(State.FAILED_FREED, State.ABANDONED, State.CLOSED);
        if (freed.contains(cell.from())) {
            assertThat(cell.expected()).isEqualTo(new Transition(cell.from(), Action.NONE));
        }
    }

    @Test
    void theFirstFailureIsKept() {
        EndPointLife<String> life = in(State.READY);
        assertThat(life.failure()).isNull();
        assertThat(life.fail("first")).isEqualTo(Action.END);
        assertThat(life.fail("second")).isEqualTo(Action.NONE);
        life.on(Event.INCOMPLETE);
        assertThat(life.fail("third")).isEqualTo(Action.END_AGAIN);
        assertThat(life.failure()).isEqualTo("first");
    }

    @Test
    void whatFailsAfterThePeerIsDoneIsNoFailure() {
        EndPointLife<String> life = in(State.PEER_DONE);
        assertThat(life.fail("too late")).isEqualTo(Action.NONE);
        assertThat(life.failure()).isNull();
    }

    @Test
    void onlyTheSideThatClosesFirstHasClosedIt() {
        assertThat(closed(State.READY)).isTrue();
        assertThat(closed(State.PEER_DONE)).isFalse();
        assertThat(closed(State.FAILED)).isFalse();
    }

    private static boolean closed(State from) {
        EndPointLife<String> life = in(from);
        life.on(Event.CLOSE);
        life.on(Event.FREED);
        return life.isClosedHere();
    }

    @Test
    void thePeerMaySpeakUntilItIsDoneOrThisSideHasEnded() {
        Set<State> active = EnumSet.of(State.CONNECTING, State.READY, State.CLOSING, State.CLOSING_DONE_SENT);
        for (State state : State.values()) {
            assertThat(in(state).isPeerFinished()).as("%s", state).isEqualTo(!active.contains(state));
        }
    }

    @Test
    void aWaitEndsWithTheStateAndWithOtherChanges() throws InterruptedException {
        EndPointLife<String> life = in(State.READY);
        assertThat(life.await(() -> false, System.nanoTime())).isFalse();
        AtomicBoolean other = new AtomicBoolean();
        Thread changer = Thread.ofVirtual().start(() -> life.change(() -> other.set(true)));
        assertThat(life.await(other::get, System.nanoTime() + 60_000_000_000L)).isTrue();
        changer.join();
        Thread closer = Thread.ofVirtual().start(() -> life.on(Event.CLOSE));
        assertThat(life.await(() -> life.state() == State.CLOSING, System.nanoTime() + 60_000_000_000L))
                .isTrue();
        closer.join();
    }
}
