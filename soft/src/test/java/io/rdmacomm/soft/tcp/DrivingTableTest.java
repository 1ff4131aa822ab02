package io.rdmacomm.soft.tcp;

import static io.rdmacomm.soft.tcp.DrivingTable.State.ENGINE;
import static io.rdmacomm.soft.tcp.DrivingTable.State.NOBODY;
import static io.rdmacomm.soft.tcp.DrivingTable.State.STREAM;
import static io.rdmacomm.soft.tcp.DrivingTable.State.THREAD;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.tcp.DrivingTable.Event;
import io.rdmacomm.soft.tcp.DrivingTable.State;
import io.rdmacomm.soft.tcp.DrivingTable.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Every cell of the table of who drives a link. The class comment is the specification.
class DrivingTableTest {
    private static final Path SOURCE = Path.of("src/main/java/io/rdmacomm/soft/tcp/DrivingTable.java");
    private static final List<Event> FOUND =
            List.of(Event.ATTENDED, Event.LOCKED, Event.STREAM_ARRIVED, Event.STREAM_PAUSED, Event.STREAM_ENDED);

    @Test
    void everyCellIsAsTheCommentSays() throws IOException {
        Map<Event, List<String>> rows = rows();
        assertThat(rows.keySet()).containsExactlyInAnyOrder(Event.values());
        for (Event event : Event.values()) {
            int column = 0;
            for (State state : State.values()) {
                String cell = rows.get(event).get(column++);
                Step expected = cell.isEmpty()
                        ? Step.NOTHING
                        : Step.valueOf(cell.toUpperCase(Locale.ROOT).replace(' ', '_'));
                assertThat(DrivingTable.step(state, event))
                        .as("%s in %s", event, state)
                        .isEqualTo(expected);
                assertThat(DrivingTable.next(state, event))
                        .as("the state after %s in %s", event, state)
                        .isEqualTo(cell.startsWith("to ") ? State.valueOf(cell.substring(3)) : state);
            }
        }
    }

    /// The rows of the comment: an event, and its cell for each state.
    private static Map<Event, List<String>> rows() throws IOException {
        Map<Event, List<String>> rows = new HashMap<>();
        for (String line : Files.readAllLines(SOURCE)) {
            String[] cells = line.split("\\|", -1);
            if (line.startsWith("/// | ") && !cells[1].contains("Event")) {
                List<String> ofStates =
                        Arrays.stream(cells).skip(2).limit(4).map(String::strip).toList();
                rows.put(Event.valueOf(cells[1].strip()), ofStates);
            }
        }
        return rows;
    }

    @ParameterizedTest
    @EnumSource(Event.class)
    void onlyOpeningStartsALink(Event event) {
        assertThat(DrivingTable.next(NOBODY, event)).isEqualTo(event == Event.OPENED ? ENGINE : NOBODY);
    }

    @ParameterizedTest
    @EnumSource(
            value = State.class,
            names = {"ENGINE", "STREAM", "THREAD"})
    void noOpenLinkIsForgotten(State state) {
        Event wakes = state == ENGINE ? Event.SOCKET_READY : Event.DUE;
        assertThat(DrivingTable.step(state, wakes)).as("the engine comes back").isEqualTo(Step.CHECK);
        for (Event found : FOUND) {
            assertThat(DrivingTable.next(state, found)).as("after %s", found).isIn(ENGINE, STREAM, THREAD);
        }
        assertThat(DrivingTable.step(state, Event.FRAMES_LEFT)).isNotEqualTo(Step.NOTHING);
        assertThat(DrivingTable.step(state, Event.FRAMES_LEFT_AWAITED))
                .as("a thread that waits cannot send")
                .isIn(Step.ENGINE_SENDS, Step.CHECK_SOON);
        assertThat(DrivingTable.next(state, Event.CLOSED)).isEqualTo(NOBODY);
    }
}
