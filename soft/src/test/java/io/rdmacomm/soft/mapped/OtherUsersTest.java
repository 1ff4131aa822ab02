package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.LeftOut;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Users that have the same folder for shared memory, one of them as the root of a user namespace, as in a
/// container. Needs root, setpriv(1) and unshare(1).
@Tag("slow")
@Timeout(120)
class OtherUsersTest {
    private static final List<String> ROOT_OF_A_NAMESPACE = List.of("unshare", "-U", "--map-root-user");

    @TempDir
    Path shared;

    @TempDir
    Path classes;

    private final List<Finder> finders = new ArrayList<>();

    @BeforeEach
    void prepare() throws Exception {
        if (!runs(as(4001, ROOT_OF_A_NAMESPACE))) {
            throw LeftOut.because(
                    OtherUsersTest.class, "this process cannot become another user's root in a namespace");
        }
        // The classes may be in a folder that other users cannot read.
        copy(ShmDirectory.class, classes);
        copy(io.rdmacomm.verbs.service.UserFolders.class, classes);
        copy(OtherUsersTest.class, classes);
        Files.setPosixFilePermissions(classes, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setAttribute(shared, "unix:mode", 01777);
    }

    @AfterEach
    void end() throws Exception {
        for (Finder finder : finders) {
            finder.end();
        }
    }

    private static boolean runs(List<String> launcher) throws InterruptedException {
        List<String> command = new ArrayList<>(launcher);
        command.add("true");
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static List<String> as(int user, List<String> launcher) {
        List<String> command =
                new ArrayList<>(List.of("setpriv", "--reuid", "" + user, "--regid", "" + user, "--clear-groups"));
        command.addAll(launcher);
        return command;
    }

    private static void copy(Class<?> type, Path to) throws IOException, URISyntaxException {
        Path from =
                Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isRegularFile(from)) {
            Files.copy(from, to.resolve(from.getFileName()));
            return;
        }
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> !file.endsWith("module-info.class"))
                    .filter(file -> !file.endsWith("package-info.class"))
                    .toList()) {
                Path copy = to.resolve(from.relativize(each).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(each, copy);
            }
        }
    }

    @Test
    void rootOfANamespaceAndRootOfTheHostLiveSideBySide() throws Exception {
        for (boolean hostFirst : new boolean[] {true, false}) {
            Finder early = hostFirst ? start(List.of()) : start(as(4001, ROOT_OF_A_NAMESPACE));
            Finder late = hostFirst ? start(as(4001, ROOT_OF_A_NAMESPACE)) : start(List.of());
            assertThat(early.finds(late)).as("the first finds the second").isFalse();
            assertThat(late.finds(early)).as("the second finds the first").isFalse();
            assertThat(early.finds(early)).isTrue();
            assertThat(late.finds(late)).isTrue();
            early.end();
            assertThat(late.finds(late)).isTrue();
            late.end();
            assertThat(shared).isEmptyDirectory();
        }
    }

    @Test
    void aUserFindsItsPeersInItsNamespaceAndTheyFindIt() throws Exception {
        Finder outside = start(as(4001, List.of()));
        Finder inside = start(as(4001, ROOT_OF_A_NAMESPACE));
        assertThat(inside.finds(outside)).isTrue();
        assertThat(outside.finds(inside)).isTrue();
        outside.end();
        Finder another = start(as(4001, List.of()));
        assertThat(inside.finds(another)).isTrue();
        assertThat(another.finds(inside)).isTrue();
        assertThat(inside.finds(outside)).as("one that has gone").isFalse();
    }

    @Test
    void twoUsersOfTheHostDoNotFindEachOther() throws Exception {
        Finder one = start(as(4001, List.of()));
        Finder other = start(as(4002, List.of()));
        assertThat(one.finds(other)).isFalse();
        assertThat(other.finds(one)).isFalse();
    }

    /// Nobody's own folder and that of an unknown user look the same in a namespace.
    @Test
    void nobodyOfANamespaceDoesNotTakeTheFolderOfAnUnknownUserForItsOwn() throws Exception {
        Finder unknown = start(as(4001, List.of()));
        Finder nobody = start(as(4002, List.of("unshare", "-U", "--map-user=65534")));
        assertThat(nobody.finds(unknown)).isFalse();
        assertThat(unknown.finds(nobody)).isFalse();
        assertThat(nobody.finds(nobody)).isTrue();
    }

    private Finder start(List<String> launcher) throws IOException {
        List<String> command = new ArrayList<>(launcher);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Drdmacomm.soft.directory=" + shared,
                "-cp",
                classes + ":" + classes + "/*",
                Program.class.getName()));
        Finder finder = new Finder(new ProcessBuilder(command)
                .directory(Path.of("/").toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        finders.add(finder);
        finder.readLid();
        return finder;
    }

    /// A process with a context.
    private static final class Finder {
        private final Process process;
        private final BufferedReader answers;
        private final PrintWriter questions;
        private int lid;

        Finder(Process process) {
            this.process = process;
            this.answers = process.inputReader();
            this.questions = new PrintWriter(process.outputWriter(), true);
        }

        void readLid() throws IOException {
            lid = Integer.parseInt(answers.readLine());
        }

        boolean finds(Finder other) throws IOException {
            questions.println(other.lid);
            return Boolean.parseBoolean(answers.readLine());
        }

        void end() throws InterruptedException {
            questions.close();
            process.waitFor();
        }
    }

    /// Claims a folder, prints its LID, and answers for each LID that it reads whether it finds that folder.
    static final class Program {
        public static void main(String[] arguments) throws IOException {
            try (ShmDirectory directory = ShmDirectory.claim();
                    BufferedReader questions = new BufferedReader(
                            new java.io.InputStreamReader(System.in, java.nio.charset.StandardCharsets.US_ASCII))) {
                System.out.println(directory.lid());
                for (String lid = questions.readLine(); lid != null; lid = questions.readLine()) {
                    System.out.println(!ShmDirectory.isGone(Integer.parseInt(lid)));
                }
            }
        }
    }
}
