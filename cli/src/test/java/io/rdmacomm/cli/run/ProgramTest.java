package io.rdmacomm.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ProgramTest {
    private static final String EXECUTABLE = "\u007fELF and so on";

    @TempDir
    private Path folder;

    /// A program in the folder `bin` of a run-time image.
    private Path program(String version, String name, String content) throws IOException {
        Path bin = Files.createDirectories(folder.resolve("image/bin"));
        Files.writeString(folder.resolve("image/release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        return executable(bin.resolve(name), content);
    }

    private static Path executable(Path file, String content) throws IOException {
        Files.writeString(file, content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static void check(Path file) throws IOException {
        Program.find(file.toString()).orElseThrow().check();
    }

    @ParameterizedTest
    @CsvSource({"17.0.2, 17", "1.8.0_402, 8", "24-ea, 24"})
    void anOlderJavaIsNamedWithTheVersionThatIsNeeded(String version, String name) throws IOException {
        Path link = folder.resolve("java");
        Path java = program(version, "java", EXECUTABLE);
        Files.createSymbolicLink(link, java);
        assertThatThrownBy(() -> check(link))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("'" + link + "' is " + java.toRealPath() + ", Java " + name + ",")
                .hasMessageContaining("Java 25 or newer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"25", "25.0.1", "100-ea"})
    void aNewerJavaIsTaken(String version) throws IOException {
        Path java = program(version, "java", EXECUTABLE);
        assertThatCode(() -> check(java)).doesNotThrowAnyException();
    }

    @Test
    void anotherLauncherOfAJdkIsRejected() throws IOException {
        Path launcher = program("25", "jwebserver", EXECUTABLE);
        assertThatThrownBy(() -> check(launcher))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("ignores JDK_JAVA_OPTIONS");
    }

    @Test
    void anImageThatCannotHaveAgentsIsRejected() throws IOException {
        Path java = program("25\"\nMODULES=\"java.base java.logging", "java", EXECUTABLE);
        assertThatThrownBy(() -> check(java)).hasMessageContaining("java.instrument");
        Path other = program("25\"\nMODULES=\"java.base java.instrument", "java", EXECUTABLE);
        assertThatCode(() -> check(other)).doesNotThrowAnyException();
    }

    /// The script that jlink makes for `--launcher` calls `java`.
    @Test
    void aScriptInAnImageIsTaken() throws IOException {
        Path script = program("17", "server", "#!/bin/sh\nexec java -m server\n");
        assertThatCode(() -> check(script)).doesNotThrowAnyException();
    }

    @Test
    void aNativeImageIsRejected() throws IOException {
        Path program = executable(folder.resolve("server"), EXECUTABLE + "\0.text\0.svm_heap\0");
        assertThatThrownBy(() -> check(program)).hasMessageContaining("native image");
        Path other = executable(folder.resolve("other"), EXECUTABLE + "\0.text\0");
        assertThatCode(() -> check(other)).doesNotThrowAnyException();
    }

    @Test
    void aFileThatCannotBeExecutedIsNoProgram() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "text");
        assertThat(Program.find(file.toString())).isEmpty();
        assertThat(Program.find(folder.toString())).isEmpty();
        assertThat(Program.find("sh")).isPresent();
    }
}
