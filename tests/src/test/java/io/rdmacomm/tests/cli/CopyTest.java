package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `send` and `recv` between two processes.
class CopyTest {
    private static final String[] NO_OPTIONS = {};

    @TempDir
    private Path root;

    private Path source;
    private Path target;

    @BeforeEach
    void makeDirectories() throws IOException {
        source = Files.createDirectory(root.resolve("source"));
        target = Files.createDirectory(root.resolve("target"));
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void manyFilesOfAllSizes(String transport) throws Exception {
        List<String> words = new ArrayList<>(List.of("send"));
        Random random = new Random(4711);
        int[] sizes = {0, 1, 4095, 65_536, 1 << 20, (1 << 20) + 1, 5_000_000};
        for (int i = 0; i < 40; i++) {
            byte[] content = new byte[sizes[i % sizes.length]];
            random.nextBytes(content);
            words.add(Files.write(source.resolve("file " + i + " \u00fc.bin"), content)
                    .toString());
        }
        try (Command receiver = receive(transport, "--once")) {
            words.addAll(List.of(
                    "localhost:" + receiver.port(), "--transport", transport, "--chunk", "64k", "--depth", "3"));

            Result sent = Command.run(words.toArray(String[]::new));

            assertThat(sent.exitCode()).as(sent.err()).isZero();
            assertThat(sent.out()).contains("40 files over " + transport, "Gbit/s", "user", "sys", "checksum correct");
            assertThat(receiver.end().exitCode()).isZero();
        }
        assertThat(names(target)).hasSize(40);
        for (String name : names(target)) {
            assertThat(Files.mismatch(source.resolve(name), target.resolve(name)))
                    .as(name)
                    .isEqualTo(-1);
        }
    }

    @Test
    void permissionsWithoutTheUmaskAndTimeArePreservedAndAnOldFileIsReplaced() throws Exception {
        Path file = Files.writeString(source.resolve("file"), "new");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r-x-w---x"));
        Instant time = Instant.parse("2001-02-03T04:05:06.789Z");
        Files.setLastModifiedTime(file, FileTime.from(time));
        Files.writeString(target.resolve("file"), "old and longer");

        Result sent = send("rdma", file);

        assertThat(sent.exitCode()).as(sent.err()).isZero();
        Path copy = target.resolve("file");
        assertThat(Files.readString(copy)).isEqualTo("new");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)))
                .isEqualTo("r-x-----x");
        assertThat(Files.getLastModifiedTime(copy).toInstant()).isEqualTo(time);
    }

    @Test
    void filesThatCannotBeSentAreReportedAndTheOthersAreSent() throws Exception {
        Path file = Files.writeString(source.resolve("file"), "content");

        Result sent = send("rdma", source.resolve("missing"), source, file);

        assertThat(sent.exitCode()).isEqualTo(1);
        assertThat(sent.err()).contains("missing: no such file", "it is a directory; -r sends directories");
        assertThat(sent.err().strip().lines()).hasSize(2);
        assertThat(names(target)).containsExactly("file");
    }

    /// proc(5) gives the size of its files as 0, sysfs(5) as that of a page.
    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void filesThatGiveAWrongSizeAreCopiedAsTheyRead(String transport) throws Exception {
        Path empty = Files.createFile(source.resolve("empty"));
        List<Path> kernel = Stream.of("/proc/version", "/proc/sys/kernel/pid_max", "/sys/class/net/lo/mtu")
                .map(Path::of)
                .filter(Files::isReadable)
                .toList();
        List<Path> all = new ArrayList<>(kernel);
        all.add(empty);

        Result sent = send(transport, all.toArray(Path[]::new));

        assertThat(sent.exitCode()).as(sent.err()).isZero();
        for (Path each : kernel) {
            assertThat(Files.readAllBytes(target.resolve(each.getFileName())))
                    .as(each.toString())
                    .isNotEmpty()
                    .isEqualTo(readAtOnce(each));
        }
        assertThat(target.resolve("empty")).isEmptyFile();
    }

    /// The kernel gives numbers such as `pid_max` only from their start.
    private static byte[] readAtOnce(Path file) throws IOException {
        byte[] bytes = new byte[4096];
        try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "r")) {
            return Arrays.copyOf(bytes, opened.read(bytes));
        }
    }

    @Test
    void pipesSocketsAndDevicesAreRefused() throws Exception {
        Path pipe = source.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Path socket = source.resolve("socket");
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(socket));

            Result sent = send("tcp", pipe, socket, Path.of("/dev/zero"));

            assertThat(sent.exitCode()).isEqualTo(1);
            assertThat(sent.err().strip().lines())
                    .hasSize(3)
                    .allMatch(line -> line.endsWith("not a regular file, but a pipe, a socket or a device"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void ofAFileThatGrowsTheBeginningIsCopied(String transport) throws Exception {
        Path log = Files.write(source.resolve("log"), new byte[100_000]);
        AtomicBoolean sent = new AtomicBoolean();
        Thread writing = Thread.ofPlatform().start(() -> append(log, sent));
        try {
            Result result = send(transport, log);

            assertThat(result.exitCode()).as(result.err()).isZero();
        } finally {
            sent.set(true);
            writing.join();
        }
        assertThat(Files.size(target.resolve("log"))).isGreaterThanOrEqualTo(100_000);
        assertThat(Files.mismatch(log, target.resolve("log")))
                .as("the copy is the beginning")
                .isEqualTo(Files.size(target.resolve("log")));
    }

    private static void append(Path log, AtomicBoolean end) {
        byte[] piece = {1, 2, 3, 4, 5};
        try {
            // One more after the end, so that the copy is shorter in any case.
            boolean last = false;
            while (!last) {
                last = end.get();
                Files.write(log, piece, StandardOpenOption.APPEND);
                LockSupport.parkNanos(100_000);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void symbolicLinksAndDirectoriesOfThatNameAreNotTouched(String transport) throws Exception {
        Path outside = Files.writeString(root.resolve("outside"), "untouched");
        Files.createSymbolicLink(target.resolve("link"), outside);
        Files.createDirectory(target.resolve("folder"));
        Path link = Files.writeString(source.resolve("link"), "x");
        Path folder = Files.writeString(source.resolve("folder"), "x");
        Path file = Files.writeString(source.resolve("file"), "x");

        Result sent = send(transport, link, folder, file);

        assertThat(sent.exitCode()).isEqualTo(1);
        assertThat(sent.err()).contains("symbolic link", "a directory or device");
        assertThat(Files.readString(outside)).isEqualTo("untouched");
        assertThat(names(target)).containsExactlyInAnyOrder("file", "folder", "link");
    }

    @Test
    void aMissingDirectoryFailsImmediately() {
        Result result = Command.run("recv", "--dir", source.resolve("missing").toString(), "--port", "0");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("is not a directory");
    }

    @Tag("slow")
    @Test
    void noIncompleteFileRemainsWhenTheSenderDies() throws Exception {
        Path file = source.resolve("large");
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(3L << 30);
        }
        try (Command receiver = receive("rdma", "--once");
                Command sender = Command.start("send", file.toString(), "localhost:" + receiver.port())) {
            while (names(target).isEmpty()) {
                Thread.onSpinWait();
            }
            sender.kill();

            Result result = receiver.end();

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("large");
        }
        assertThat(names(target)).isEmpty();
    }

    @Test
    void noIncompleteFileRemainsAfterCtrlC() throws Exception {
        Path file = source.resolve("large");
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(3L << 30);
        }
        try (Command receiver = receive("rdma");
                Command sender = Command.start("send", file.toString(), "localhost:" + receiver.port())) {
            while (names(target).isEmpty()) {
                Thread.onSpinWait();
            }
            receiver.interrupt();
            receiver.end();

            Result result = sender.end();

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err().strip().lines()).hasSize(1);
        }
        assertThat(names(target)).isEmpty();
    }

    @Test
    void aNameThatBeginsWithAnAtSignIsAName() throws Exception {
        Path list = Files.writeString(source.resolve("@list"), "list");
        Files.writeString(source.resolve("list"), "other");

        Result sent = send("tcp", list);

        assertThat(sent.exitCode()).as(sent.err()).isZero();
        assertThat(names(target)).containsExactly("@list");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void oneCommandSendsANameOnlyOnce(String transport) throws Exception {
        Path first =
                Files.writeString(Files.createDirectory(source.resolve("a")).resolve("x"), "first");
        Path second =
                Files.writeString(Files.createDirectory(source.resolve("b")).resolve("x"), "second");

        Result sent = send(transport, first, second);

        assertThat(sent.exitCode()).isEqualTo(1);
        assertThat(sent.err()).contains("b/x: this command has sent another file of that name");
        assertThat(target.resolve("x")).hasContent("first");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POSIX", "C.UTF-8"})
    void namesAreBytesInAnyLocale(String locale) throws Exception {
        List<String> names = List.of("plain", "\u00dcbung", FileName.decode(new byte[] {'b', (byte) 0xff, '\n', 'x'}));
        Path folder = Files.createDirectory(FileName.child(source, "\u00fcnder"));
        Path into = Files.createDirectory(FileName.child(target, "\u00fcber"));
        for (String name : names) {
            Files.writeString(FileName.child(folder, name), name.substring(0, 1));
        }
        try (Command receiver = Command.launch(
                in(target, "\"$@\" --dir *"),
                NO_OPTIONS,
                Map.of("LC_ALL", locale),
                "recv",
                "--port",
                "0",
                "--once",
                "--transport",
                "tcp")) {
            try (Command sender = Command.launch(
                    in(source, "cd *; \"$@\" * localhost:" + receiver.port()),
                    NO_OPTIONS,
                    Map.of("LC_ALL", locale),
                    "send",
                    "--transport",
                    "tcp")) {
                Result sent = sender.end();
                assertThat(sent.exitCode()).as(sent.err()).isZero();
            }
            assertThat(receiver.end().exitCode()).isZero();
        }
        for (String name : names) {
            assertThat(FileName.child(into, name)).hasContent(name.substring(0, 1));
        }
        assertThat(names(into)).hasSize(names.size());
    }

    /// A shell that runs a line in a directory.
    private static List<String> in(Path folder, String line) {
        return List.of("sh", "-c", "cd '" + folder + "' && " + line, "sh");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void directoriesAreSentWithAllThatTheyContain(String transport) throws Exception {
        Path tree = Files.createDirectories(source.resolve("tree/empty")).getParent();
        Path deep = Files.createDirectories(tree.resolve("a/b"));
        for (int i = 0; i < 150; i++) {
            Files.writeString((i % 2 == 0 ? deep : tree).resolve("file" + i), "content " + i);
        }
        Files.createSymbolicLink(tree.resolve("link"), source);
        Files.setPosixFilePermissions(deep, PosixFilePermissions.fromString("r-xr-x---"));
        FileTime time = FileTime.from(Instant.parse("2001-02-03T04:05:06Z"));
        for (Path each : List.of(deep, deep.getParent(), tree.resolve("empty"), tree)) {
            Files.setLastModifiedTime(each, time);
        }

        Result sent = send(transport, List.of("-r"), tree);

        assertThat(sent.exitCode()).as(sent.err()).isZero();
        assertThat(sent.out().strip().lines()).hasSize(1);
        assertThat(sent.out()).contains("150 files over " + transport, "1 file skipped");
        Path copy = target.resolve("tree");
        for (int i = 0; i < 150; i++) {
            assertThat(copy.resolve(i % 2 == 0 ? "a/b" : ".").resolve("file" + i))
                    .hasContent("content " + i);
        }
        assertThat(copy.resolve("link")).doesNotExist();
        assertThat(copy.resolve("empty")).isEmptyDirectory();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy.resolve("a/b"))))
                .isEqualTo("r-xr-x---");
        for (String each : List.of("", "a", "a/b", "empty")) {
            assertThat(Files.getLastModifiedTime(copy.resolve(each))).as(each).isEqualTo(time);
        }
        Files.setPosixFilePermissions(deep, PosixFilePermissions.fromString("rwxr-x---"));
        Files.setPosixFilePermissions(copy.resolve("a/b"), PosixFilePermissions.fromString("rwxr-x---"));
    }

    @Test
    void theContentOfADirectoryCanBeSentWithoutIt() throws Exception {
        Files.createDirectory(source.resolve("folder"));
        Files.writeString(source.resolve("folder/file"), "content");

        Result sent = send("tcp", List.of("-r"), Path.of(source + "/."));

        assertThat(sent.exitCode()).as(sent.err()).isZero();
        assertThat(target.resolve("folder/file")).hasContent("content");
    }

    @Test
    @Tag("slow")
    void existingFilesAreTreatedAsTheUserWants() throws Exception {
        Path file = Files.writeString(source.resolve("file"), "new");
        Path old = Files.writeString(target.resolve("file"), "old");
        Files.setLastModifiedTime(old, FileTime.fromMillis(0));

        Result skipped = send("tcp", List.of("--existing", "skip"), file);
        assertThat(skipped.exitCode()).as(skipped.err()).isZero();
        assertThat(skipped.out()).contains("1 file skipped");
        assertThat(target.resolve("file")).hasContent("old");
        Result renamed = send("tcp", List.of("--existing", "rename"), file);
        assertThat(renamed.out()).contains("as file.1");
        assertThat(target.resolve("file.1")).hasContent("new");
        assertThat(send("tcp", List.of("--existing", "update"), file).out()).contains("3 B");
        assertThat(target.resolve("file")).hasContent("new");
        assertThat(send("tcp", List.of("--existing", "update"), file).out()).contains("1 file skipped");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    @Tag("slow")
    void aTransferContinuesAfterAnInterruption(String transport) throws Exception {
        Path file = source.resolve("large");
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(1L << 30);
            for (int i = 0; i < 1024; i++) {
                large.seek((long) i << 20);
                large.writeInt(i + 1);
            }
        }
        try (Command receiver = receive(transport)) {
            String address = "localhost:" + receiver.port();
            try (Command sender =
                    Command.start("send", "--resume", "--transport", transport, file.toString(), address)) {
                Deadline.await("some of the file", () -> kept() > 50 << 20);
                sender.kill();
            }
            assertThat(names(target)).singleElement().asString().endsWith(".resume");

            AtomicReference<Result> sent = new AtomicReference<>();
            Deadline.await("the rest of the file", () -> {
                // Fails until the receiver has noticed the death of the first sender.
                sent.set(Command.run("send", "--resume", "--transport", transport, file.toString(), address));
                return sent.get().exitCode() == 0;
            });

            assertThat(sent.get().out()).contains("continued after");
        }
        assertThat(names(target)).containsExactly("large");
        assertThat(Files.mismatch(file, target.resolve("large"))).isEqualTo(-1);
    }

    /// How much of a file is there that is to be continued.
    private long kept() {
        try (Stream<Path> files = Files.list(target)) {
            return files.filter(file -> file.toString().endsWith(".resume"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Tag("slow")
    void whatAKilledReceiverLeavesIsRemovedByTheNext() throws Exception {
        Path file = source.resolve("large");
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(3L << 30);
        }
        try (Command killed = receive("tcp");
                Command busy = receive("tcp");
                Command sender =
                        Command.start("send", "--transport", "tcp", file.toString(), "localhost:" + killed.port());
                Command other =
                        Command.start("send", "--transport", "tcp", file.toString(), "localhost:" + busy.port())) {
            Deadline.await("two incomplete files", () -> count(target) == 2);
            killed.kill();
            sender.end();
            assertThat(names(target)).hasSize(2);

            try (Command next = receive("tcp")) {
                next.port();
                // The file of the one that lives stays.
                assertThat(names(target)).hasSize(1);
            }
            other.kill();
        }
    }

    private static int count(Path folder) {
        try {
            return names(folder).size();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void anEmptyNameOfADirectoryIsWrongUsage() {
        Result result = Command.run("recv", "--dir", "", "--port", "0");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("--dir is empty");
    }

    @Test
    void aReceiverOfTheOtherTransportSaysSo() throws Exception {
        Path file = Files.writeString(source.resolve("file"), "x");
        try (Command receiver = receive("tcp")) {
            Result sent = Command.run("send", file.toString(), "localhost:" + receiver.port());

            assertThat(sent.exitCode()).isEqualTo(1);
            assertThat(sent.err()).contains("--transport");
        }
    }

    @Test
    @Tag("slow")
    @Tag("long")
    @Timeout(300)
    void moreThanFourGigabytes() throws Exception {
        Path file = source.resolve("sparse");
        long size = (4L << 30) + 12_345;
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.seek(1L << 31);
            sparse.writeUTF("in the middle");
            sparse.seek(size - 4);
            sparse.writeInt(4711);
        }

        Result sent = send("rdma", file);

        assertThat(sent.exitCode()).as(sent.err()).isZero();
        Path copy = target.resolve("sparse");
        assertThat(Files.size(copy)).isEqualTo(size);
        try (RandomAccessFile received = new RandomAccessFile(copy.toFile(), "r")) {
            received.seek(1L << 31);
            assertThat(received.readUTF()).isEqualTo("in the middle");
            received.seek(size - 4);
            assertThat(received.readInt()).isEqualTo(4711);
        }
    }

    private Result send(String transport, Path... files) throws Exception {
        return send(transport, List.of(), files);
    }

    private Result send(String transport, List<String> options, Path... files) throws Exception {
        try (Command receiver = receive(transport, "--once")) {
            List<String> words = new ArrayList<>(List.of("send"));
            words.addAll(options);
            Stream.of(files).map(Path::toString).forEach(words::add);
            words.addAll(List.of("localhost:" + receiver.port(), "--transport", transport));
            Result sent = Command.run(words.toArray(String[]::new));
            receiver.end();
            return sent;
        }
    }

    private Command receive(String transport, String... more) throws IOException {
        List<String> words =
                new ArrayList<>(List.of("recv", "--dir", target.toString(), "--port", "0", "--transport", transport));
        words.addAll(List.of(more));
        return Command.start(words.toArray(String[]::new));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
