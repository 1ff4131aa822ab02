package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IncomingFolderTest {
    private static final byte[] CONTENT = "content".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path root;

    private Path directory;
    private IncomingFolder folder;

    @BeforeEach
    void create() throws IOException {
        directory = Files.createDirectory(root.resolve("directory"));
        folder = new IncomingFolder(directory);
    }

    private static Offer offer(String name, long size) {
        return new Offer(1, name, size, 0640, 981_173_106, 789_000_000);
    }

    private static long checksum(byte[] bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return checksum.getValue();
    }

    private Stream<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList().stream();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "/", "/etc/passwd", "../x", "a/b", "a/../b", "nul\0byte"})
    void aNameThatIsAPathIsRejected(String name) throws IOException {
        assertThatThrownBy(() -> folder.create(offer(name, 0))).isInstanceOf(RejectedFileException.class);
        assertThat(names()).isEmpty();
    }

    @Test
    void theLengthOfANameIsLimitedInBytes() throws Exception {
        assertThatThrownBy(() -> folder.create(offer("\u00fc".repeat(128), 0)))
                .isInstanceOf(RejectedFileException.class)
                .hasMessageContaining("longer than 255 bytes");
        folder.create(offer("\u00fc".repeat(127), 0)).discard();
    }

    @Test
    void somethingOtherThanARegularFileIsNotReplaced() throws IOException {
        Files.createDirectory(directory.resolve("sub"));
        Files.createSymbolicLink(directory.resolve("link"), root.resolve("outside"));

        for (String name : new String[] {"sub", "link"}) {
            assertThatThrownBy(() -> folder.create(offer(name, 0))).isInstanceOf(RejectedFileException.class);
        }
    }

    @Test
    void aCompleteFileReplacesAnOldOneAtomically() throws Exception {
        Path target = Files.writeString(directory.resolve("file"), "old and longer");
        IncomingFile file = folder.create(offer("file", CONTENT.length));
        file.append(ByteBuffer.wrap(CONTENT));
        assertThat(Files.readString(target)).isEqualTo("old and longer");

        file.complete(checksum(CONTENT));

        assertThat(names()).containsExactly("file");
        assertThat(Files.readAllBytes(target)).isEqualTo(CONTENT);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
                .isEqualTo("rw-r-----");
        assertThat(Files.getLastModifiedTime(target)).hasToString("2001-02-03T04:05:06.789Z");
    }

    @Test
    void zerosBecomeAFileOfTheRightLength() throws Exception {
        byte[] zeros = new byte[100_000];
        IncomingFile file = folder.create(offer("zeros", zeros.length));
        file.append(ByteBuffer.wrap(zeros));

        file.complete(checksum(zeros));

        assertThat(Files.readAllBytes(directory.resolve("zeros"))).isEqualTo(zeros);
    }

    @Test
    void aWrongChecksumOrLengthIsDetected() throws Exception {
        IncomingFile file = folder.create(offer("file", CONTENT.length));

        assertThatThrownBy(() -> file.complete(checksum(new byte[0]))).hasMessageContaining("only 0 of 7 bytes");
        file.append(ByteBuffer.wrap(CONTENT));
        assertThatThrownBy(() -> file.append(ByteBuffer.wrap(CONTENT))).hasMessageContaining("more than the 7 bytes");
        assertThatThrownBy(() -> file.complete(4711)).hasMessageContaining("checksum is wrong");
        file.discard();
        assertThatThrownBy(() -> file.complete(checksum(CONTENT))).hasMessageContaining("canceled");
        assertThat(names()).isEmpty();
    }

    @Test
    void closingDeletesIncompleteFiles() throws Exception {
        folder.create(offer("one", 1));
        folder.create(offer("two", 1));
        assertThat(names()).hasSize(2).allMatch(name -> name.startsWith(".rdmacomm."));

        folder.close();

        assertThat(names()).isEmpty();
    }

    @Test
    void aMissingDirectoryIsAFailure() {
        assertThatThrownBy(() -> new IncomingFolder(root.resolve("missing")))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is not a directory");
    }

    @Test
    void anOfferDescribesAFile() throws Exception {
        Path file = Files.write(root.resolve("file"), CONTENT);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r-x-w---x"));

        Offer offer = Offer.of(3, root.resolve("directory/../file"));

        assertThat(offer.name()).isEqualTo("file");
        assertThat(offer.size()).isEqualTo(CONTENT.length);
        assertThat(offer.mode()).isEqualTo(0521);
        assertThat(Offer.of(offer.toFrame())).isEqualTo(offer);
    }

    @Test
    void anOfferWithANegativeSizeIsRejected() {
        Frame<CopyMessage> frame = Frame.of(CopyMessage.OFFER, "file", 1, -1, 0, 0, 0);

        assertThatThrownBy(() -> Offer.of(frame)).isInstanceOf(RejectedFileException.class);
    }
}
