package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.LeftOut;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A host whose only address is `::1`, made by a network namespace.
@Tag("slow")
final class LoopbackTest {
    private static final List<String> ONLY_IPV6 = List.of(
            "unshare",
            "-n",
            "sh",
            "-c",
            "ip link set lo up && ip addr del 127.0.0.1/8 dev lo && ip -6 addr show lo | grep -q ::1 && exec \"$@\"",
            "sh");

    @BeforeAll
    static void leaveOutWithoutNamespaces() throws Exception {
        List<String> command = new ArrayList<>(ONLY_IPV6);
        command.add("true");
        boolean possible;
        try {
            possible = new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException e) {
            possible = false;
        }
        if (!possible) {
            throw LeftOut.because(LoopbackTest.class, "cannot make a network namespace with ::1 only");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench --tests send_lat --sizes 8 --duration 0.1 --warmup 0.1",
                "bench --tests barrier --nodes 2 --duration 0.1 --warmup 0.1",
                "mesh --nodes 2 --iterations 1",
            })
    void everythingOnOneHostWorks(String words) throws Exception {
        try (Command command = Command.launch(ONLY_IPV6, new String[0], Map.of(), words.split(" ", -1))) {
            Result result = command.end();
            assertThat(result.exitCode()).as(result.err()).isZero();
        }
    }
}
