package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The script `rdmacomm`, with a `java` that prints its arguments and a `mvn` that builds nothing.
final class LaunchScriptTest {
    private static final String SERIAL = "-XX:+UseSerialGC";
    private static final String PREPARING = "rdmacomm: preparing faster starts, once ...";

    @TempDir
    private Path folder;

    /// A JVM that prints its arguments, and writes a cache if it is asked for one.
    private static final String JAVA =
            "for word in \"$@\"; do case $word in *Output=*) echo made >\"${word#*=}\" ;; esac; done; printf '%s\\n' \"$@\"";

    private Path home;
    private Path jdk;
    private Path bin;

    @BeforeEach
    void makeACheckout() throws IOException {
        home = Files.createDirectory(folder.resolve("a blank [x] * 'q'"));
        jdk = Files.createDirectories(folder.resolve("a jdk/bin")).getParent();
        bin = Files.createDirectory(folder.resolve("bin"));
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");
        program(jdk.resolve("bin/java"), JAVA);
        program(jdk.resolve("bin/javac"), "exit 1");
        program(
                bin.resolve("mvn"),
                "mkdir -p cli/target/quick && cd cli/target/quick && touch rdmacomm.jar rdmacomm-nio.jar");
        Path script = Path.of(System.getProperty("user.dir")).resolveSibling("rdmacomm");
        program(home.resolve("rdmacomm"), Files.readString(script).replaceFirst("#!/bin/sh\n", ""));
        Files.createDirectory(home.resolve(".mvn"));
        Files.createDirectories(home.resolve("cli/src/main"));
        Files.writeString(home.resolve("pom.xml"), "");
        Files.writeString(home.resolve("cli/pom.xml"), "");
    }

    private static void program(Path file, String text) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /// What the JVM is started with.
    private List<String> run(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(home.resolve("rdmacomm").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.directory(folder.toFile());
        builder.environment().keySet().removeIf(name -> name.contains("JAVA") || name.equals("CDPATH"));
        builder.environment().put("JAVA_HOME", jdk.toString());
        builder.environment().merge("PATH", bin + ":", (path, own) -> own + path);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines().toList();
    }

    @Test
    void onlySourcesOfTheCommandMakeItBuildAgain() throws Exception {
        assertThat(run(Map.of(), "devices").getFirst()).isEqualTo("rdmacomm: building ...");
        FileTime later = FileTime.from(Instant.now().plusSeconds(60));
        Path comparison = Files.createDirectories(home.resolve("compare/src/main/java"));
        Files.setLastModifiedTime(Files.writeString(comparison.resolve("Peer.java"), ""), later);
        Files.setLastModifiedTime(Files.writeString(home.resolve("compare/pom.xml"), ""), later);
        assertThat(run(Map.of(), "devices").getFirst()).isNotEqualTo("rdmacomm: building ...");

        Files.setLastModifiedTime(Files.writeString(home.resolve("cli/src/main/Command.java"), ""), later);

        assertThat(run(Map.of(), "devices").getFirst()).isEqualTo("rdmacomm: building ...");
    }

    @Test
    void aCheckoutMayBeInAFolderWithBlanksAndPatterns() throws Exception {
        Files.createFile(folder.resolve("-XX:AOTCache=x"));

        List<String> words = run(Map.of("CDPATH", "/"), "send", "a b", "*", "");

        assertThat(words.getFirst()).isEqualTo("rdmacomm: building ...");
        Path run = home.resolve("target/run");
        assertThat(words)
                .contains(SERIAL, "-XX:AOTCache=" + run.resolve("rdmacomm-25.0.1.aot"))
                .endsWith("-jar", run.resolve("rdmacomm.jar").toString(), "send", "a b", "*", "");
    }

    @Test
    void aCopyBesideItsJarMayBeThereToo() throws Exception {
        install();

        List<String> words = run(Map.of("RDMACOMM_JAVA_OPTS", "-Dname=* -Xmx1g"), "info");

        assertThat(words)
                .contains(SERIAL)
                .endsWith(
                        "-Dname=*",
                        "-Xmx1g",
                        "-jar",
                        home.resolve("rdmacomm.jar").toString(),
                        "info");
    }

    @Test
    void aRunTimeImageBesideItComesFirst() throws Exception {
        install();
        Path image = home.resolve("runtime");
        program(Files.createDirectories(image.resolve("bin")).resolve("java"), "echo image");
        Files.writeString(image.resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");

        assertThat(run(Map.of(), "--jdk")).containsExactly(image.toString());
        assertThat(run(Map.of(), "info")).containsExactly(PREPARING, "image");
        assertThat(run(Map.of(), "info")).containsExactly("image");
    }

    /// Instead of a checkout.
    private void install() throws IOException {
        Files.delete(home.resolve("pom.xml"));
        Files.writeString(home.resolve("rdmacomm.jar"), "");
    }

    private Path installedCache() {
        return home.resolve("rdmacomm-25.0.1.aot");
    }

    @Test
    void theFirstStartOfAnInstalledCommandMakesItsCache() throws Exception {
        install();
        String ours = "-XX:AOTCache=" + installedCache();

        assertThat(run(Map.of(), "info")).startsWith(PREPARING).contains(ours);
        assertThat(run(Map.of(), "info")).doesNotContain(PREPARING).contains(ours);
        assertThat(installedCache()).hasContent("made\n");
        assertThat(files()).containsExactlyInAnyOrder("rdmacomm", "rdmacomm.jar", "rdmacomm-25.0.1.aot", "cli", ".mvn");

        Files.setLastModifiedTime(
                home.resolve("rdmacomm.jar"), FileTime.from(Instant.now().plusSeconds(60)));
        assertThat(run(Map.of(), "info")).as("with another jar").startsWith(PREPARING);
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(home)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void aFailureToMakeACacheIsNotRepeated() throws Exception {
        install();
        program(jdk.resolve("bin/java"), "case $* in *Output=*) exit 1 ;; esac; printf '%s\\n' \"$@\"");

        assertThat(run(Map.of(), "info"))
                .startsWith(PREPARING)
                .as("an empty cache would cost the archive of the JDK")
                .noneMatch(word -> word.contains("AOT"));
        assertThat(run(Map.of(), "info")).doesNotContain(PREPARING).noneMatch(word -> word.contains("AOT"));
    }

    @Test
    void nobodyWaitsForTheCacheThatAnotherProcessMakes() throws Exception {
        install();
        Path lock = home.resolve("rdmacomm-25.0.1.aot.lock");
        Process other =
                new ProcessBuilder("flock", lock.toString(), "sh", "-c", "echo locked && exec sleep 60").start();
        try {
            assertThat(other.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("locked");

            assertThat(run(Map.of(), "info")).doesNotContain(PREPARING).noneMatch(word -> word.contains("AOT"));
        } finally {
            other.destroy();
        }
    }

    /// Root may write everywhere, so a folder with the name of the lock stands for a place where nobody may.
    @Test
    void whereNothingCanBeWrittenThereIsNoCacheAndNoComplaint() throws Exception {
        install();
        Files.createDirectory(home.resolve("rdmacomm-25.0.1.aot.lock"));

        assertThat(run(Map.of(), "info"))
                .noneMatch(word -> word.contains("AOT"))
                .noneMatch(word -> word.contains("rdmacomm:"))
                .endsWith("info");
    }

    @Test
    void aCheckoutUsesNoRunTimeImage() throws Exception {
        program(Files.createDirectories(home.resolve("runtime/bin")).resolve("java"), "echo image");
        Files.writeString(home.resolve("runtime/release"), "JAVA_VERSION=\"25.0.1\"\n");

        assertThat(run(Map.of(), "--jdk")).containsExactly(jdk.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "RDMACOMM_JAVA_OPTS, -XX:+UseZGC, false",
        "RDMACOMM_JAVA_OPTS, -Xmx1g -XX:-UseSerialGC, false",
        "RDMACOMM_JAVA_OPTS, -XX:+UseParallelGC, false",
        "RDMACOMM_JAVA_OPTS, -XX:+UseNUMA -Xlog:gc, true",
        "JAVA_TOOL_OPTIONS, -XX:+UseG1GC, false",
        "JDK_JAVA_OPTIONS, '\"-XX:+UseG1GC\" -Da=b', false",
        "_JAVA_OPTIONS, -XX:+UseEpsilonGC, false",
    })
    void aCollectorOfTheUserReplacesOurs(String variable, String value, boolean ours) throws Exception {
        assertThat(run(Map.of(variable, value), "info").contains(SERIAL)).isEqualTo(ours);
    }

    @ParameterizedTest
    @CsvSource({
        "RDMACOMM_JAVA_OPTS, -Xshare:auto",
        "RDMACOMM_JAVA_OPTS, -Xmx1g -Xshare:off",
        "RDMACOMM_JAVA_OPTS, -XX:SharedArchiveFile=x.jsa",
        "RDMACOMM_JAVA_OPTS, -XX:+AutoCreateSharedArchive",
        "RDMACOMM_JAVA_OPTS, -XX:ArchiveClassesAtExit=x.jsa",
        "RDMACOMM_JAVA_OPTS, -XX:AOTCache=x.aot",
        "RDMACOMM_JAVA_OPTS, -XX:AOTCacheOutput=x.aot",
        "RDMACOMM_JAVA_OPTS, -XX:AOTMode=record -XX:AOTConfiguration=x",
        "RDMACOMM_JAVA_OPTS, -XX:SharedClassListFile=x",
        "RDMACOMM_JAVA_OPTS, -XX:DumpLoadedClassList=x",
        "RDMACOMM_JAVA_OPTS, @options",
        "JAVA_TOOL_OPTIONS, -Xshare:auto",
        "JDK_JAVA_OPTIONS, '\"-Xshare:auto\" -Da=b'",
        "_JAVA_OPTIONS, -XX:Flags=x",
    })
    void anArchiveOfTheUserReplacesOurCache(String variable, String value) throws Exception {
        String ours = "-XX:AOTCache=" + home.resolve("target/run/rdmacomm-25.0.1.aot");
        assertThat(run(Map.of(), "info")).contains(ours);

        List<String> words = run(Map.of(variable, value), "info");

        assertThat(words).doesNotContain(ours).endsWith("info");
        assertThat(words.contains(SERIAL))
                .as("our collector")
                .isEqualTo(!value.contains("@") && !value.contains("Flags"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"-Xmx1g", "-agentlib:jdwp=server=y", "-Dname=-Xlog", "-XX:+UseZGC", "-XX:+UseCompressedOops"})
    void otherOptionsKeepTheCache(String value) throws Exception {
        assertThat(run(Map.of("RDMACOMM_JAVA_OPTS", value), "info"))
                .contains("-XX:AOTCache=" + home.resolve("target/run/rdmacomm-25.0.1.aot"), value);
    }
}
