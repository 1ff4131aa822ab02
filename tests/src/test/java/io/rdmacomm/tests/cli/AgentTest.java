package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The agent `rdmacomm-nio.jar`, as the build makes it.
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class AgentTest {
    private static final Path JAR =
            Path.of(System.getProperty("user.dir")).resolveSibling(Path.of("cli", "target", "rdmacomm-nio.jar"));
    private static final String SOFT = "-Dio.rdmacomm.nio.device=soft0";

    @BeforeAll
    static void theJarIsBuilt() {
        assertThat(JAR).as("the agent, which `mvn package` builds").exists();
    }

    private record Ended(int exitCode, String text) {}

    /// An HTTP server and its client in a JVM with some options.
    private static Ended http(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        // Without the library: the agent brings it along.
        command.addAll(List.of("-cp", Path.of("target", "test-classes").toString(), RunTest.Http.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), text);
    }

    private static String agent(String rules) {
        return "-javaagent:" + JAR + "=" + rules;
    }

    @Test
    void theJarHasTheLibraryOnly() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            assertThat(jar.stream().map(JarEntry::getName))
                    .allMatch(name ->
                            name.matches("(META-INF|io/rdmacomm/(verbs|soft|ibverbs|fault|nio))/.*|io/(rdmacomm/)?"))
                    .contains("io/rdmacomm/nio/RdmaAgent.class");
        }
    }

    /// So that it can say which version is needed.
    @Test
    void anOlderJvmCanLoadTheClassThatItStartsWith() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            String name = jar.getManifest().getMainAttributes().getValue("Premain-Class");
            JarEntry start = jar.getJarEntry(name.replace('.', '/') + ".class");
            assertThat(ClassFile.of()
                            .parse(jar.getInputStream(start).readAllBytes())
                            .majorVersion())
                    .isEqualTo(ClassFile.JAVA_8_VERSION);
        }
    }

    @Test
    void aProgramWithoutTheLibraryUsesRdma(@TempDir Path folder) throws Exception {
        Ended ended = http(agent("127.0.0.0/8"), SOFT, "-Dio.rdmacomm.nio.report=" + folder);
        assertThat(ended.text()).contains("5 equal");
        assertThat(ended.exitCode()).isZero();
        try (Stream<Path> reports = Files.list(folder)) {
            assertThat(reports)
                    .singleElement()
                    .satisfies(report -> assertThat(report)
                            .content()
                            .containsPattern("listen at 127.0.0.1:0: RDMA")
                            .containsPattern("connect to .*: RDMA"));
        }
    }

    @Test
    void theAgentCanBeNamedTwice() throws Exception {
        Ended ended = http(agent("127.0.0.0/8"), agent("127.0.0.0/8"), SOFT);
        assertThat(ended.text()).contains("5 equal");
        assertThat(ended.exitCode()).isZero();
    }

    @Test
    void theProviderAsAPropertyDoesNotDisturbTheAgent() throws Exception {
        Ended ended = http(
                "-Djava.nio.channels.spi.SelectorProvider=io.rdmacomm.nio.RdmaSelectorProvider",
                agent("127.0.0.0/8"),
                SOFT);
        assertThat(ended.text()).contains("5 equal");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProgramWhoseModulesHaveTheLibraryUsesRdma(boolean folders) throws Exception {
        String modules = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry ->
                        entry.matches(".*/(rdmacomm-)?(verbs|soft|nio)(/target/(quick/)?classes/?|-[^/]*[.]jar)"))
                .map(entry -> folders ? entry.replaceFirst("[^/]*[.]jar$", "classes") : entry)
                .collect(Collectors.joining(File.pathSeparator));
        Ended ended =
                http(agent("127.0.0.0/8"), SOFT, "-p", modules, "--add-modules", "io.rdmacomm.nio,io.rdmacomm.soft");
        assertThat(ended.text()).contains("5 equal");
    }

    @Test
    void aWrongRuleEndsTheJvmBeforeTheProgram() throws Exception {
        Ended ended = http(agent("nowhere"), SOFT);
        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.text().lines())
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("'nowhere' is no address");
    }

    @Test
    void anotherProviderIsNotReplaced() throws Exception {
        Ended ended = http("-Djava.nio.channels.spi.SelectorProvider=some.Other", agent("*"), SOFT);
        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.text().lines())
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("the system property java.nio.channels.spi.SelectorProvider is some.Other");
    }

    @Test
    void withoutTheAgentThePropertySaysWhatToDo() throws Exception {
        Ended ended = http(
                "-Djava.nio.channels.spi.SelectorProvider=io.rdmacomm.nio.RdmaSelectorProvider",
                "-Xbootclasspath/a:" + JAR);
        assertThat(ended.text()).contains("-javaagent:rdmacomm-nio.jar");
    }
}
