package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A command whose JVM has a port for management (JMX) starts others, which cannot have the same port.
final class InheritedOptionsTest {
    private static final String BENCH = "bench --no-floors --tests send_lat --sizes 64 --iterations 50 --warmup 0";
    private static final String MESH = "mesh --nodes 2 --iterations 20 --depth 4";

    private static List<String> options() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return List.of(
                    "-Dcom.sun.management.jmxremote.port=" + free.getLocalPort(),
                    "-Dcom.sun.management.jmxremote.authenticate=false",
                    "-Dcom.sun.management.jmxremote.ssl=false");
        }
    }

    private static String[] words(String command) {
        List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
        words.addAll(List.of("--set-up-timeout", "60"));
        return words.toArray(String[]::new);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
    void aSecondProcessLeavesThePortOfAVariableToTheFirst(String variable) throws Exception {
        try (Command command = Command.start(Map.of(variable, String.join(" ", options())), words(BENCH))) {
            Result result = command.end();

            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("send_lat");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BENCH, MESH})
    void otherProcessesLeaveThePortOfAnOptionToTheFirst(String line) throws Exception {
        try (Command command = Command.start(options().toArray(String[]::new), words(line))) {
            Result result = command.end();

            assertThat(result.exitCode()).as(result.err()).isZero();
        }
    }
}
