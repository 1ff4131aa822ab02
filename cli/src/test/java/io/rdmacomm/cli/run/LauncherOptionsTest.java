package io.rdmacomm.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The launcher `java` itself reads what is written for it.
final class LauncherOptionsTest {
    @Test
    void eachOptionStaysOneOption() throws Exception {
        List<String> values = List.of("plain", "", "a b", "\" \"-Devil=1", "'", "\"'\"", "\"\"", "a\\tb", "@file", "*");
        LauncherOptions options = new LauncherOptions("-Dgiven=yes");
        for (int i = 0; i < values.size(); i++) {
            options.add("-Dtest." + i + "=" + values.get(i));
        }
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XshowSettings:properties",
                "-version");
        builder.environment().put(LauncherOptions.VARIABLE, options.toString());
        Process process = builder.redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(printed).isZero();
        List<String> properties = printed.lines().map(String::strip).toList();
        assertThat(properties).contains("given = yes");
        for (int i = 0; i < values.size(); i++) {
            assertThat(properties).contains(("test." + i + " = " + values.get(i)).strip());
        }
        assertThat(properties).noneMatch(line -> line.startsWith("evil"));
    }
}
