package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
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
    @TempDir
    private Path root;

    private Path source;
    private Path target;

    @BeforeEach
    void makeDirectories() throws IOException {
        source = Files.createDirectory(root.resolve("source"));
        target = Files.createDirectory(root.resolve("target"));
    }

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
    void permissionsAndTimeArePreservedAndAnOldFileIsReplaced() throws Exception {
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
                .isEqualTo("r-x-w---x");
        assertThat(Files.getLastModifiedTime(copy).toInstant()).isEqualTo(time);
    }

    @Test
    void filesThatCannotBeSentAreReportedAndTheOthersAreSent() throws Exception {
        Path file = Files.writeString(source.resolve("file"), "content");

        Result sent = send("rdma", source.resolve("missing"), source, file);

        assertThat(sent.exitCode()).isEqualTo(1);
        assertThat(sent.err()).contains("missing: no such file", "not a regular file");
        assertThat(sent.err().strip().lines()).hasSize(2);
        assertThat(names(target)).containsExactly("file");
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
        try (Command receiver = receive(transport, "--once")) {
            List<String> words = new ArrayList<>(List.of("send"));
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
