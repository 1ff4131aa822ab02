package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Deadline;
import java.util.concurrent.TimeUnit;

/// C programs that the commands talk to. Each is stopped if it takes too long.
final class CProgram {
    static final long TIMEOUT_SECONDS = 120;

    private CProgram() {}

    static Process start(String command) {
        return start(command, TIMEOUT_SECONDS);
    }

    private static Process start(String command, long seconds) {
        return Shell.start("timeout " + seconds + " " + command);
    }

    /// Starts a server and waits until the kernel knows its port.
    ///
    /// @param listens a shell command that succeeds once the server listens
    static Process serve(String command, String listens) {
        return serve(command, TIMEOUT_SECONDS, listens);
    }

    /// Starts a server whose turn comes later, and waits until the kernel knows its port.
    ///
    /// @param seconds after which it is stopped
    static Process serve(String command, long seconds, String listens) {
        Process server = start(command, seconds);
        Deadline.until(
                TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS),
                () -> !server.isAlive() || Shell.tryTo(listens + " >/dev/null"));
        assertThat(server.isAlive()).as(command + " listens").isTrue();
        return server;
    }

    static void assertEndsWell(Process program) throws InterruptedException {
        assertThat(program.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                .as("the C program ends")
                .isTrue();
        assertThat(program.exitValue()).as("exit status of the C program").isZero();
    }
}
