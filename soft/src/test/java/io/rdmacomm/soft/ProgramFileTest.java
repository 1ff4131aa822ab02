package io.rdmacomm.soft;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A peer maps the file behind memory that the program has registered, if it is still the same one; otherwise the
/// owner copies the bytes.
class ProgramFileTest {
    private static final int BYTES = 20_000;
    /// Neither begins nor ends at a page.
    private static final int FROM = 5_000;

    private static final int PART = 9_000;
    private static final Set<AccessFlag> READABLE = EnumSet.of(AccessFlag.REMOTE_READ);

    private final AddressEnd here = new AddressEnd();
    private final AddressEnd there = new AddressEnd();
    private final byte[] content = content(1);

    @TempDir
    private Path folder;

    private Path file;

    private static byte[] content(int seed) {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            bytes[i] = (byte) (i * 31 + (i >>> 8) + seed);
        }
        return bytes;
    }

    @BeforeEach
    void connect() throws IOException {
        here.pair.connect(there.pair.info());
        there.pair.connect(here.pair.info());
        file = folder.resolve("a file\u00e9");
        Files.write(file, content);
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    private MemoryRegion map(Set<AccessFlag> access) throws IOException {
        boolean writable = access.contains(AccessFlag.LOCAL_WRITE);
        try (FileChannel channel = writable ? FileChannel.open(file, READ, WRITE) : FileChannel.open(file, READ)) {
            return there.domain.map(channel, FROM, PART, access);
        }
    }

    private WorkStatus post(SendBatch batch) {
        here.post(batch.signaled());
        return here.next().status();
    }

    private WorkStatus read(RemoteMemory from) {
        here.region.segment().fill((byte) 0);
        return post(here.batch().read(1, from).with(here.region, 0, from.length()));
    }

    private byte[] received() {
        return here.region.segment().asSlice(0, PART).toArray(ValueLayout.JAVA_BYTE);
    }

    private void readsThePart(MemoryRegion from, int wantedCopies) {
        assertThat(read(from.remote())).isEqualTo(WorkStatus.SUCCESS);
        assertThat(received()).isEqualTo(Arrays.copyOfRange(content, FROM, FROM + PART));
        assertThat(staged()).isEqualTo(wantedCopies);
    }

    private long staged() {
        return Soft.counter(here.context, "staged_copies");
    }

    private static List<Path> notes(AddressEnd end) throws IOException {
        Path own = ShmDirectory.folder(end.pair.info().lid());
        try (var files = Files.list(own)) {
            return files.filter(each -> each.getFileName().toString().startsWith("file-"))
                    .toList();
        }
    }

    @Test
    void aPeerReadsAndWritesTheFile() throws IOException {
        MemoryRegion region = map(AccessFlag.allRemote());
        readsThePart(region, 0);

        here.fill(PART, 9);
        RemoteMemory to = region.remote().slice(17, PART - 20);
        assertThat(post(here.batch().write(2, to).with(here.region, 0, to.length())))
                .isEqualTo(WorkStatus.SUCCESS);

        System.arraycopy(received(), 0, content, FROM + 17, PART - 20);
        assertThat(Files.readAllBytes(file)).isEqualTo(content);
        assertThat(staged()).isZero();
    }

    @Test
    void aReadOnlyFileIsMappedReadOnly() throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
        MemoryRegion region = map(READABLE);
        assertThat(region.segment().isReadOnly()).isTrue();
        readsThePart(region, 0);

        assertThat(post(here.batch().write(2, region.remote()).with(here.region, 0, PART)))
                .isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(Files.readAllBytes(file)).isEqualTo(content);
        assertThatThrownBy(() -> region.reregister(null, null, AccessFlag.allRemote()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");
    }

    @Test
    void messagesArriveInTheFile() throws IOException {
        MemoryRegion region = map(EnumSet.of(AccessFlag.LOCAL_WRITE));
        there.pair.post(ReceiveBatch.create(Arena.ofAuto(), 1, 1).receive(5).with(region, 0, PART));
        here.fill(PART, 3);

        assertThat(post(here.batch().send(1).with(here.region, 0, PART))).isEqualTo(WorkStatus.SUCCESS);

        there.succeeded(5);
        System.arraycopy(received(), 0, content, FROM, PART);
        assertThat(Files.readAllBytes(file)).isEqualTo(content);
        assertThat(staged()).isZero();
    }

    @Test
    void memoryThatTheProgramHasMappedItselfIsMappedToo() throws IOException {
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, READ)) {
            MemorySegment whole = channel.map(MapMode.READ_ONLY, 0, BYTES, arena);
            MemoryRegion region = there.domain.register(whole, Set.of());
            MemoryRegion part = there.domain.register(whole.asSlice(FROM, PART), READABLE);
            readsThePart(part, 0);
            assertThat(notes(there)).as("one for both").hasSize(1);
            region.close();
            readsThePart(part, 0);
            part.close();
            assertThat(notes(there)).isEmpty();
        }
    }

    @Test
    void anotherFileAtTheSameAddressIsNotTakenForTheFirst() throws IOException {
        Arena mistake = Arena.ofShared();
        MemoryRegion first;
        MemorySegment memory;
        try (FileChannel channel = FileChannel.open(file, READ)) {
            memory = channel.map(MapMode.READ_ONLY, 0, BYTES, mistake);
            first = there.domain.register(memory, READABLE);
        }
        mistake.close();
        // Whether the address is the same is up to the system: the memory of the JDK's next mapping mostly is.
        MemoryRegion other = there.domain.allocate(BYTES, AccessFlag.allRemote());
        MemoryRegion part = there.domain.register(other.segment().asSlice(FROM, PART), READABLE);
        other.segment().fill((byte) 5);

        assertThat(read(part.remote())).isEqualTo(WorkStatus.SUCCESS);
        byte[] fives = new byte[PART];
        Arrays.fill(fives, (byte) 5);
        assertThat(received()).isEqualTo(fives);
        first.close();
    }

    @Test
    void aPrivateMappingIsNotTheFile() throws IOException {
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, READ, WRITE)) {
            MemorySegment own = channel.map(MapMode.PRIVATE, FROM, PART, arena);
            own.fill((byte) 7);
            MemoryRegion region = there.domain.register(own, READABLE);

            assertThat(read(region.remote())).isEqualTo(WorkStatus.SUCCESS);

            assertThat(received()).isEqualTo(own.toArray(ValueLayout.JAVA_BYTE));
            assertThat(staged()).isEqualTo(1);
            region.close();
        }
    }

    @Test
    void aFileThatWasRemovedIsCopiedByItsOwner() throws IOException {
        MemoryRegion region = map(READABLE);
        Files.delete(file);
        readsThePart(region, 1);
        readsThePart(region, 2);
    }

    @Test
    void aFileThatWasReplacedIsCopiedByItsOwner() throws IOException {
        MemoryRegion region = map(READABLE);
        Path other = folder.resolve("other");
        Files.write(other, content(77));
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        readsThePart(region, 1);
    }

    @Test
    void aFileThatIsReplacedLaterStaysTheSame() throws IOException {
        MemoryRegion region = map(READABLE);
        readsThePart(region, 0);
        Path other = folder.resolve("other");
        Files.write(other, content(77));
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        readsThePart(region, 0);
    }

    @Test
    void aPipeInItsPlaceIsNotOpened() throws IOException, InterruptedException {
        MemoryRegion region = map(READABLE);
        Files.delete(file);
        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor())
                .isZero();
        readsThePart(region, 1);
    }

    @Test
    void aLinkInItsPlaceIsNotFollowed() throws IOException {
        MemoryRegion region = map(READABLE);
        Path moved = folder.resolve("moved");
        Files.move(file, moved);
        Files.createSymbolicLink(file, moved);
        readsThePart(region, 1);
    }

    @Test
    void aFileThatWasRemovedBeforeHasNoNote() throws IOException {
        try (FileChannel channel = FileChannel.open(file, READ)) {
            Files.delete(file);
            MemoryRegion region = there.domain.map(channel, FROM, PART, READABLE);
            assertThat(notes(there)).isEmpty();
            readsThePart(region, 1);
        }
    }

    @Test
    void aNoteThatSaysSomethingElseIsNotBelieved() throws IOException {
        Path other = folder.resolve("other");
        Files.write(other, content(55));
        String[] lies = {
            "",
            "\n\n\n\n",
            "1 2 3\ntrue\n0\n9000\n" + other,
            "1 2 3\ntrue\n-1\n9000\n/dev/zero",
            "x\nfalse\n99999999999999999999\n1\n/",
            "x\nfalse\n0\n1\nno\0path"
        };
        for (String lie : lies) {
            MemoryRegion region = map(READABLE);
            Path note = notes(there).getFirst();
            Files.writeString(note, lie);
            long before = staged();
            assertThat(read(region.remote())).as(lie).isEqualTo(WorkStatus.SUCCESS);
            assertThat(received()).as(lie).isEqualTo(Arrays.copyOfRange(content, FROM, FROM + PART));
            assertThat(staged()).as(lie).isEqualTo(before + 1);
            region.close();
        }
    }

    @Test
    void aContextThatIsItsOwnPeerUsesItsMapping() throws IOException {
        AddressEnd end = there.renew();
        MemoryRegion region = map(AccessFlag.allRemote());
        MemoryRegion part = end.domain.register(region.segment().asSlice(100, 1000), AccessFlag.allRemote());
        QueuePair other = end.domain.createQueuePair(QueuePairOptions.reliable(end.queue));
        end.pair.connect(other.info());
        other.connect(end.pair.info());
        end.post(end.batch()
                .read(1, part.remote().slice(10, 500))
                .with(end.region, 0, 500)
                .signaled());
        end.succeeded(1);
        assertThat(end.region.segment().asSlice(0, 500).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Arrays.copyOfRange(content, FROM + 110, FROM + 610));
        part.close();
    }

    @Test
    void anotherFileCanTakeThePlaceOfTheFirst() throws IOException {
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, READ)) {
            MemorySegment whole = channel.map(MapMode.READ_ONLY, 0, BYTES, arena);
            MemoryRegion region = there.domain.register(whole.asSlice(0, 64), READABLE);
            assertThat(read(region.remote())).isEqualTo(WorkStatus.SUCCESS);
            region.reregister(whole.asSlice(FROM, PART), null, null);
            readsThePart(region, 0);
            region.reregister(arena.allocate(PART).copyFrom(whole.asSlice(FROM, PART)), null, null);
            readsThePart(region, 1);
            region.reregister(whole.asSlice(FROM, PART), null, null);
            readsThePart(region, 1);
            assertThat(notes(there)).hasSize(1);
            region.close();
            assertThat(notes(there)).isEmpty();
        }
        MemoryRegion mapped = map(READABLE);
        MemorySegment memory = mapped.segment();
        assertThatThrownBy(() -> mapped.reregister(memory.asSlice(0, 8), null, null))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("owns its memory");
    }

    @Test
    void nothingIsLeft() throws IOException {
        long mappings = 0;
        long descriptors = 0;
        for (int i = 0; i < 200; i++) {
            MemoryRegion region = map(i % 2 == 0 ? READABLE : AccessFlag.allRemote());
            MemoryRegion again = there.domain.register(region.segment(), READABLE);
            readsThePart(again, 0);
            again.close();
            region.close();
            assertThatThrownBy(() -> region.segment().get(ValueLayout.JAVA_BYTE, 0))
                    .isInstanceOf(IllegalStateException.class);
            if (i == 20) {
                awaitUnmapped();
                mappings = mappings("");
                descriptors = descriptors();
            }
        }
        awaitUnmapped();
        assertThat(notes(there)).isEmpty();
        assertThat(descriptors()).isLessThanOrEqualTo(descriptors + 10);
        assertThat(mappings("")).isLessThan(mappings + 50);
        assertThat(Files.size(file)).isEqualTo(BYTES);
    }

    private void awaitUnmapped() {
        here.await(() -> mappings(folder.toString()) == 0);
    }

    private static long mappings(String of) {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(of)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long descriptors() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    /// A file of a lower layer is copied when somebody opens it for writing. Who has mapped it before keeps the old
    /// one,
    /// and the copy has the same identity.
    @Test
    void aFileThatAnOverlayCopiesLaterIsReadThroughItsOwner() throws IOException, InterruptedException {
        Path lower = Files.createDirectory(folder.resolve("lower"));
        Path upper = Files.createDirectory(folder.resolve("upper"));
        Path work = Files.createDirectory(folder.resolve("work"));
        Path merged = Files.createDirectory(folder.resolve("merged"));
        Files.write(lower.resolve("file"), content);
        String layers = "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work;
        if (run("mount", "-t", "overlay", "overlay", "-o", layers, merged.toString()) != 0) {
            throw LeftOut.because(ProgramFileTest.class, "overlay file systems cannot be mounted here");
        }
        try {
            file = merged.resolve("file");
            MemoryRegion region = map(READABLE);
            Files.write(file, content(2));
            readsThePart(region, 1);
            region.close();
        } finally {
            run("umount", merged.toString());
        }
    }

    private static int run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
