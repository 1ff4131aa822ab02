package io.rdmacomm.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The options of the script `compare/run`, which it checks before it builds anything.
class CompareScriptTest {
    private record Result(int status, String text) {}

    private static Result run(String words) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Path.of("run").toAbsolutePath().toString()));
        command.addAll(List.of(words.split(" ", -1)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        return new Result(process.exitValue(), text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--nonsense | unknown argument '--nonsense'",
                "word | unknown argument 'word'",
                "--rounds | --rounds needs a whole number above 0",
                "--rounds 0 | --rounds needs a whole number above 0",
                "--rounds x | --rounds needs a whole number above 0",
                "--duration 0.0 | --duration needs a number of seconds",
                "--duration -1 | --duration needs a number of seconds",
                "--warmup x | --warmup needs a number of seconds",
                "--only A;B | --only needs names",
                "--json | --json needs a file",
                "--from last-run.json --lab | --from measures nothing",
                "--programs --lab | --programs cannot be combined"
            })
    void wrongUsageIsOneLineAndExitCode2(String words, String expected) throws Exception {
        Result result = run(words);

        assertThat(result.status()).isEqualTo(2);
        assertThat(result.text()).startsWith("compare/run: ").contains(expected, "--help");
        assertThat(result.text().lines()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--baseline /no/such/file | /no/such/file: cannot be read",
                "--from /no/such/file | /no/such/file: cannot be read",
                "--json /no/such/folder/file | /no/such/folder/file: cannot be written",
                "--report / | /: cannot be written"
            })
    void aFileThatCannotBeUsedIsExitCode1(String words, String expected) throws Exception {
        Result result = run(words);

        assertThat(result.status()).isEqualTo(1);
        assertThat(result.text()).isEqualTo("compare/run: " + expected + "\n");
    }

    @Test
    void helpListsTheOptions() throws Exception {
        Result result = run("--help");

        assertThat(result.status()).isZero();
        assertThat(result.text()).contains("Usage: compare/run", "--rounds", "--lab", "--baseline", "Exit status");
    }
}
