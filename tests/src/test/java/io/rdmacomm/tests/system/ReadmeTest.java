package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the README promises.
class ReadmeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void showsAProgramThatRunsAsItStands(@TempDir Path folder) throws Exception {
        Matcher program = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(readme());
        assertThat(program.find()).isTrue();
        Path source = Files.writeString(folder.resolve("Hello.java"), program.group(1));
        Process run = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(run.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output).isEqualTo("received: hello\nwritten: hello\n");
            assertThat(run.exitValue()).isZero();
        } finally {
            run.destroyForcibly();
        }
    }

    @Test
    void namesOnlyFilesThatExist() throws IOException {
        Matcher link = Pattern.compile("\\]\\(([^)#:]+)\\)").matcher(readme());
        List<String> missing = new ArrayList<>();
        while (link.find()) {
            if (!Files.exists(ROOT.resolve(link.group(1)))) {
                missing.add(link.group(1));
            }
        }
        assertThat(missing).isEmpty();
    }

    private static String readme() throws IOException {
        return Files.readString(ROOT.resolve("README.md"));
    }
}
