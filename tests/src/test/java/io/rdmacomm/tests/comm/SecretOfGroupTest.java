package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.tests.fixture.LeftOut;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A secret that a process of another user reads because of its group. Needs root and setpriv(1).
final class SecretOfGroupTest {
    private static final int USER = 4001;
    private static final int GROUP = 4002;
    private static final int OTHER = 4003;
    private static final String READ = "read";

    @TempDir
    private Path folder;

    @BeforeEach
    void openFolder() throws Exception {
        if (setpriv("4001", "true").redirectErrorStream(true).start().waitFor() != 0) {
            throw LeftOut.because(SecretOfGroupTest.class, "this process cannot become another user");
        }
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static ProcessBuilder setpriv(String groups, String... command) {
        List<String> words =
                new ArrayList<>(List.of("setpriv", "--reuid", "" + USER, "--regid", "" + USER, "--groups", groups));
        words.addAll(List.of(command));
        return new ProcessBuilder(words);
    }

    private Path file(String mode, int owner, int group) throws IOException {
        Path file = Files.writeString(folder.resolve(mode + owner + "." + group), "0123456789abcdef");
        Files.setAttribute(file, "unix:uid", owner);
        Files.setAttribute(file, "unix:gid", group);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    /// For each file `read`, or why it was refused.
    private List<String> read(boolean asRoot, List<Path> files) throws Exception {
        List<String> words = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/java", "-cp", classes(), Reader.class.getName()));
        files.forEach(file -> words.add(file.toString()));
        ProcessBuilder builder = asRoot ? new ProcessBuilder(words) : setpriv("" + GROUP, words.toArray(String[]::new));
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines().toList();
    }

    /// Copies, because the originals may be in a folder that other users cannot read.
    private String classes() throws IOException, URISyntaxException {
        List<String> copies = new ArrayList<>();
        for (Class<?> type : List.of(Secret.class, Reader.class)) {
            Path from = Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path to = folder.resolve("classes" + copies.size() + ".jar");
            if (Files.isRegularFile(from)) {
                Files.copy(from, to);
            } else {
                try (Stream<Path> all = Files.walk(from.resolve(packageOf(type)))) {
                    for (Path each : all.filter(Files::isRegularFile).toList()) {
                        Path copy = to.resolve(from.relativize(each).toString());
                        Files.createDirectories(copy.getParent());
                        Files.copy(each, copy);
                    }
                }
            }
            copies.add(to.toString());
        }
        return String.join(":", copies);
    }

    private static String packageOf(Class<?> type) {
        return type.getPackageName().replace('.', '/');
    }

    @Test
    void aProcessThatIsNotRootReadsAFileOfItsGroup() throws Exception {
        List<Path> files = List.of(
                file("r--r-----", 0, GROUP),
                file("rw-r-----", 0, USER),
                file("rw-r-----", OTHER, GROUP),
                file("r--------", USER, GROUP));

        assertThat(read(false, files)).containsExactly(READ, READ, READ, READ);
    }

    @Test
    void noOtherRightsAreAccepted() throws Exception {
        List<Path> files = List.of(
                file("r--rw----", 0, GROUP),
                file("r--r-x---", 0, GROUP),
                file("r--r--r--", 0, GROUP),
                file("r--r-----", 0, OTHER),
                file("r--r-----", USER, GROUP));

        assertThat(read(false, files)).hasSize(5).allMatch(line -> line.contains("accessible to other users"));
    }

    @Test
    void rootReadsNoFileOfAGroup() throws Exception {
        List<Path> files = List.of(file("r--r-----", 0, 0), file("r--r-----", USER, 0));

        assertThat(read(true, files)).hasSize(2).allMatch(line -> line.contains("accessible to other users"));
    }

    /// Reads secrets.
    static final class Reader {
        private Reader() {}

        public static void main(String[] files) {
            for (String file : files) {
                try {
                    var _ = Secret.read(Path.of(file));
                    System.out.println(READ);
                } catch (IllegalArgumentException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }
}
