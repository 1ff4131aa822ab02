package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
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
        folder = new IncomingFolder(directory, false, null);
    }

    private static Offer offer(String name, long size) {
        return offer(name, size, Existing.OVERWRITE, false);
    }

    private static Offer offer(String name, long size, Existing existing, boolean resume) {
        return new Offer(1, 0, Offer.Kind.FILE, name, size, 0660, 981_173_106, 789_000_000, existing, resume);
    }

    /// A file that is planned and opened.
    private IncomingFile create(Offer offer) throws RejectedFileException, IOException {
        IncomingFile file = Objects.requireNonNull(folder.plan(folder.root(), offer));
        file.open(() -> {});
        return file;
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
        assertThatThrownBy(() -> create(offer(name, 0))).isInstanceOf(RejectedFileException.class);
        assertThat(names()).isEmpty();
    }

    @Test
    void theLengthOfANameIsLimitedInBytes() throws Exception {
        assertThatThrownBy(() -> create(offer("\u00fc".repeat(128), 0)))
                .isInstanceOf(RejectedFileException.class)
                .hasMessageContaining("longer than 255 bytes");
        create(offer("\u00fc".repeat(127), 0)).discard();
    }

    @Test
    void somethingOtherThanARegularFileIsNotReplaced() throws IOException {
        Files.createDirectory(directory.resolve("sub"));
        Files.createSymbolicLink(directory.resolve("link"), root.resolve("outside"));

        for (String name : new String[] {"sub", "link"}) {
            assertThatThrownBy(() -> create(offer(name, 0))).isInstanceOf(RejectedFileException.class);
        }
    }

    @Test
    void aCompleteFileReplacesAnOldOneAtomically() throws Exception {
        Path target = Files.writeString(directory.resolve("file"), "old and longer");
        IncomingFile file = create(offer("file", CONTENT.length));
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
        IncomingFile file = create(offer("zeros", zeros.length));
        file.append(ByteBuffer.wrap(zeros));

        file.complete(checksum(zeros));

        assertThat(Files.readAllBytes(directory.resolve("zeros"))).isEqualTo(zeros);
    }

    @Test
    void aWrongChecksumOrLengthIsDetected() throws Exception {
        IncomingFile file = create(offer("file", CONTENT.length));

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
        create(offer("one", 1));
        create(offer("two", 1));
        assertThat(names()).hasSize(2).allMatch(name -> name.startsWith(".rdmacomm."));

        folder.close();

        assertThat(names()).isEmpty();
    }

    @Test
    void aMissingDirectoryIsAFailure() {
        assertThatThrownBy(() -> new IncomingFolder(root.resolve("missing"), false, null))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is not a directory");
    }

    @ParameterizedTest
    @ValueSource(strings = {".bashrc", ".ssh", ".rdmacomm.1.part"})
    void hiddenNamesAreRejectedUnlessTheReceiverWantsThem(String name) {
        assertThatThrownBy(() -> create(offer(name, 0)))
                .isInstanceOf(RejectedFileException.class)
                .hasMessageContaining(name.startsWith(".rdmacomm") ? "temporary" : "--hidden");
    }

    @Test
    void aReceiverMayWantHiddenNamesButNotThoseOfItsTemporaryFiles() throws Exception {
        folder = new IncomingFolder(directory, true, null);
        create(offer(".bashrc", 0)).complete(0);

        assertThat(names()).containsExactly(".bashrc");
        assertThatThrownBy(() -> create(offer(".rdmacomm.1.part", 0))).isInstanceOf(RejectedFileException.class);
    }

    @Test
    void permissionsAreLimitedByTheUmask() throws Exception {
        create(new Offer(1, 0, Offer.Kind.FILE, "file", 0, 0777, 0, 0, Existing.OVERWRITE, false))
                .complete(0);
        Path made = Files.writeString(root.resolve("made"), "");

        Set<PosixFilePermission> here = Files.getPosixFilePermissions(directory.resolve("file"));
        here.removeAll(PosixFilePermissions.fromString("--x--x--x"));
        assertThat(here).isEqualTo(Files.getPosixFilePermissions(made));
    }

    @Test
    void attributesThatCannotBeSetAreAWarning() {
        assertThat(new Attributes().apply(offer("x", 0), Path.of("/proc/self/status")))
                .contains("not permitted");
    }

    @Test
    void anInterruptedTransferContinues() throws Exception {
        byte[] zeros = new byte[5000];
        Offer offer = offer("file", CONTENT.length + zeros.length, Existing.OVERWRITE, true);
        IncomingFile first = create(offer);
        first.append(ByteBuffer.wrap(CONTENT));
        first.append(ByteBuffer.wrap(zeros, 0, 1000));
        first.interrupt();
        assertThat(names()).singleElement().asString().endsWith(".resume");

        IncomingFile second = create(offer);
        assertThat(second.offset()).isEqualTo(CONTENT.length + 1000);
        second.append(ByteBuffer.wrap(zeros, 1000, 4000));
        byte[] all = Arrays.copyOf(CONTENT, CONTENT.length + zeros.length);
        second.complete(checksum(all));

        assertThat(names()).containsExactly("file");
        assertThat(Files.readAllBytes(directory.resolve("file"))).isEqualTo(all);
    }

    @Test
    void whatWasKeptOfAnotherFileIsNotMixedWithThisOne() throws Exception {
        Offer offer = offer("file", 2L * CONTENT.length, Existing.OVERWRITE, true);
        IncomingFile first = create(offer);
        first.append(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7}));
        first.interrupt();

        IncomingFile second = create(offer);
        second.append(ByteBuffer.wrap(CONTENT));

        assertThatThrownBy(() -> second.complete(checksum("contentcontent".getBytes(StandardCharsets.UTF_8))))
                .hasMessageContaining("checksum");
        second.discard();
        assertThat(names()).isEmpty();
    }

    @Test
    void onlyOneSenderContinuesATransfer() throws Exception {
        Offer offer = offer("file", 10, Existing.OVERWRITE, true);
        create(offer);

        assertThatThrownBy(() -> create(offer)).hasMessageContaining("another sender");
    }

    @Test
    void existingFilesAreTreatedAsTheSenderWants() throws Exception {
        Path old = Files.writeString(directory.resolve("file"), "content");
        Files.setLastModifiedTime(old, offer("x", 0).time());

        assertThat(folder.plan(folder.root(), offer("file", 1, Existing.SKIP, false)))
                .isNull();
        assertThat(folder.plan(folder.root(), offer("file", 7, Existing.UPDATE, false)))
                .isNull();
        IncomingFile update = create(offer("file", 0, Existing.UPDATE, false));
        IncomingFile rename = create(offer("file", CONTENT.length, Existing.RENAME, false));
        rename.append(ByteBuffer.wrap(CONTENT));
        assertThat(rename.complete(checksum(CONTENT)).name()).isEqualTo("file.1");
        assertThat(create(offer("file", 0, Existing.RENAME, false)).complete(0).name())
                .isEqualTo("file.2");
        assertThat(old).hasContent("content");
        update.complete(0);
        assertThat(old).isEmptyFile();
    }

    @Test
    void aFileThatAppearsMeanwhileIsNotReplaced() throws Exception {
        IncomingFile file = create(offer("file", 0, Existing.SKIP, false));
        Files.writeString(directory.resolve("file"), "mine");

        assertThatThrownBy(() -> file.complete(0)).hasMessageContaining("has appeared meanwhile");
        assertThat(directory.resolve("file")).hasContent("mine");
    }

    @Test
    void theRuleOfTheReceiverCounts() throws Exception {
        folder = new IncomingFolder(directory, false, Existing.SKIP);
        Files.writeString(directory.resolve("file"), "mine");

        assertThat(folder.plan(folder.root(), offer("file", 0))).isNull();
    }

    @Test
    void leftoversOfKilledReceiversAreRemovedAndThoseOfOthersStay() throws Exception {
        Files.writeString(directory.resolve(".rdmacomm.1.part"), "left");
        Files.writeString(directory.resolve(".rdmacomm.2.resume"), "to be continued");
        Path old = Files.writeString(directory.resolve(".rdmacomm.3.resume"), "forgotten");
        Files.setLastModifiedTime(old, FileTime.fromMillis(0));
        Files.writeString(directory.resolve(".rdmacommpart"), "mine");
        Files.createSymbolicLink(directory.resolve(".rdmacomm.4.part"), root.resolve("outside"));
        IncomingFile file = create(offer("file", 1));

        new IncomingFolder(directory, false, null).close();

        assertThat(names())
                .hasSize(4)
                .contains(".rdmacomm.2.resume", ".rdmacommpart", ".rdmacomm.4.part")
                .anyMatch(name -> name.endsWith(".part") && name.length() > 20);
        file.discard();
    }

    @Test
    void aDirectoryThatBecomesALinkIsNotEntered() throws Exception {
        Offer offer = new Offer(1, 0, Offer.Kind.FOLDER, "sub", 0, 0755, 0, 0, Existing.OVERWRITE, false);
        Path sub = folder.enter(folder.root(), offer);
        IncomingFile file = Objects.requireNonNull(folder.plan(sub, offer("file", 0)));
        file.open(() -> {});
        Files.delete(sub);
        Files.createSymbolicLink(sub, Files.createDirectory(root.resolve("outside")));

        assertThatThrownBy(() -> file.complete(0)).hasMessageContaining("symbolic link");
        assertThatThrownBy(() -> folder.plan(sub, offer("other", 0))).hasMessageContaining("symbolic link");
        assertThatThrownBy(() -> folder.enter(folder.root(), offer)).isInstanceOf(RejectedFileException.class);
        assertThat(root.resolve("outside")).isEmptyDirectory();
    }

    @Test
    void anOfferSurvivesItsFrame() throws Exception {
        Offer offer = new Offer(
                3, 2, Offer.Kind.FILE, "a\u00fc\n%\udcff", 7, 0521, 981_173_106, 789_000_000, Existing.RENAME, true);

        assertThat(Offer.of(offer.toFrame())).isEqualTo(offer);
    }

    @Test
    void anOfferThatMakesNoSenseIsRejected() {
        for (long[] numbers : new long[][] {
            {1, 0, 0, -1, 0, 0, 0, 0, 0},
            {1, 0, 3, 1, 0, 0, 0, 0, 0},
            {1, 0, -1, 1, 0, 0, 0, 0, 0},
            {1, 0, 0, 1, 0, Long.MAX_VALUE, 0, 0, 0},
            {1, 0, 0, 1, 0, 0, 0, 4, 0},
        }) {
            Frame<CopyMessage> frame = Frame.of(CopyMessage.OFFER, "file", numbers);

            assertThatThrownBy(() -> Offer.of(frame)).isInstanceOf(RejectedFileException.class);
        }
    }
}
