package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Output that is lost is a failure, and files for results are looked at before the work.
class OutputTest {
    private static final String[] NO_OPTIONS = {};
    /// A folder that nobody can make a file in, not even root.
    private static final String NO_FOLDER_FOR_FILES = "/proc/rdmacomm-result";

    @TempDir
    private Path root;

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"devices", "info --json -", "doctor", "top --once", "--help", "bench --help", "--version"})
    void aFullDiskIsAFailure(String words) throws Exception {
        Result result = run("/dev/full", words.split(" "));

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("the standard output cannot be written: No space left on device");
        assertThat(result.err().strip().lines()).hasSize(1);
    }

    @Test
    void nobodyWhoReadsAnyMoreNeedsNoMessage() throws Exception {
        try (Command command =
                Command.launch(List.of("sh", "-c", "\"$@\" | true", "sh"), NO_OPTIONS, Map.of(), "bench", "--help")) {
            assertThat(command.end().err()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench --json",
                "bench --csv",
                "bench --report",
                "bench --tests allreduce --nodes 2 --json",
                "bench --matrix --json",
                "mesh --nodes 2 --json",
                "ping localhost:1 --json",
                "doctor --device soft0 --report",
                "doctor --json",
                "devices --json",
                "info --json",
                "top --once --json",
                "send file localhost:1 --json"
            })
    void aFileForResultsThatCannotBeWrittenFailsBeforeTheWork(String words) {
        Result result = Command.run(Stream.concat(Stream.of(words.split(" ")), Stream.of(NO_FOLDER_FOR_FILES))
                .toArray(String[]::new));

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains(NO_FOLDER_FOR_FILES, "cannot be written, because");
        assertThat(result.out()).isEmpty();
    }

    @Test
    void theLookBeforeLeavesNothingAndChangesNothing() throws IOException {
        Path old = Files.writeString(root.resolve("old.json"), "old");
        Path fresh = root.resolve("new.json");

        Result first = Command.run("ping", "localhost:1", "--json", fresh.toString());
        Result second = Command.run("ping", "localhost:1", "--json", old.toString());

        assertThat(first.err() + second.err()).doesNotContain("cannot be written");
        assertThat(fresh).doesNotExist();
        assertThat(old).hasContent("old");
    }

    private static Result run(String target, String... words) throws IOException, InterruptedException {
        try (Command command =
                Command.launch(List.of("sh", "-c", "exec \"$@\" > " + target, "sh"), NO_OPTIONS, Map.of(), words)) {
            return command.end();
        }
    }
}
