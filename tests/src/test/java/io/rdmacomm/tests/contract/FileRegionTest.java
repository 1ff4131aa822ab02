package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.EndFile;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that are mapped and registered.
class FileRegionTest extends ContractCase {
    private static final int FILE = 50_000;
    /// Neither begins nor ends at a page.
    private static final int FROM = 5_008;

    private static final int PART = 40_000;
    private static final int ROUNDS = Amount.of(100, 20);
    private static final Set<AccessFlag> READABLE = Set.of(AccessFlag.REMOTE_READ);

    @TempDir
    private Path folder;

    private EndFile file(End end) {
        return closing(end.file(FILE));
    }

    /// Whether both devices register files that are mapped read-only. The kernel's own devices do not before Linux 6.2,
    /// because they ask for memory that can be written to, whatever the rights are; then this checks their answer.
    private boolean canBeReadOnly() {
        return canBeReadOnly(here()) && canBeReadOnly(there());
    }

    private boolean canBeReadOnly(End end) {
        try {
            file(end).map(0, 8, READABLE).close();
            return true;
        } catch (VerbException e) {
            assertThat(e.errno()).isEqualTo(Errno.EFAULT);
            assertThat(e).hasMessageContaining("map it for reading and writing, or register a copy");
            assertThat(fabric.provider().equals("ibverbs") || fabric.farDevice().equals("rxe0"))
                    .as("a device of the kernel")
                    .isTrue();
            System.out.println(fabric + ": files that are mapped read-only are rejected");
            return false;
        }
    }

    private byte[] read(Pair pair, EndMemory from, int offset, int length) {
        LocalMemory into = here().allocate(length, everything());
        pair.here().post(Work.read(1, from.remote().slice(offset, length), into.piece(0, length)));
        good(pair.here().one(), 1, CompletionOpcode.READ);
        byte[] bytes = into.read(0, length);
        into.close();
        return bytes;
    }

    @Test
    void everyOperationWorks() {
        for (Way way : bothWays(connected())) {
            EndFile source = file(way.from());
            EndFile target = file(way.to());
            source.setContent(pattern(FILE, 3));
            EndMemory mine = source.map(FROM, PART, everything());
            EndMemory theirs = target.map(FROM, PART, everything());

            way.target().receive(1, theirs.piece(0, 1000));
            way.source().post(Work.send(2, mine.piece(0, 1000)));
            good(way.source().one(), 2, CompletionOpcode.SEND);
            good(way.target().one(), 1, CompletionOpcode.RECEIVE);
            way.source().post(Work.write(3, theirs.remote().slice(1000, 30_000), mine.piece(1000, 30_000)));
            good(way.source().one(), 3, CompletionOpcode.WRITE);
            byte[] expected = Arrays.copyOfRange(pattern(FILE, 3), FROM, FROM + 31_000);
            arrived(theirs, 0, expected);
            assertThat(Arrays.copyOfRange(target.content(), FROM, FROM + 31_000))
                    .as("in the file")
                    .isEqualTo(expected);

            way.source().post(Work.read(4, theirs.remote().slice(500, 30_000), mine.piece(8, 30_000)));
            good(way.source().one(), 4, CompletionOpcode.READ);
            assertThat(mine.read(8, 30_000)).isEqualTo(Arrays.copyOfRange(expected, 500, 30_500));
            theirs.setLong(39_000, 5);
            way.source().post(Work.fetchAndAdd(5, theirs.remote().slice(39_000, 8), 3, mine.piece(39_000, 8)));
            good(way.source().one(), 5, CompletionOpcode.FETCH_AND_ADD);
            assertThat(theirs.getLong(39_000)).isEqualTo(8);
            assertThat(mine.getLong(39_000)).isEqualTo(5);
            mine.close();
            theirs.close();
            assertThat(source.content()).hasSize(FILE);
            assertThat(target.content()).hasSize(FILE).startsWith(new byte[FROM]);
        }
    }

    @Test
    void peersReadAFileThatIsNotOpenForWriting() {
        if (!canBeReadOnly()) {
            return;
        }
        EndFile file = file(there());
        file.setContent(pattern(FILE, 8));
        EndMemory memory = file.map(FROM, PART, READABLE);
        Pair pair = connected();
        assertThat(read(pair, memory, 0, PART)).isEqualTo(Arrays.copyOfRange(pattern(FILE, 8), FROM, FROM + PART));
        rejected(
                pair.here(),
                Work.write(
                        2,
                        memory.remote().slice(0, 8),
                        here().allocate(8, everything()).piece(0, 8)),
                WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(file.content()).isEqualTo(pattern(FILE, 8));
    }

    @Test
    void aFileThatWasReplacedOrRemovedHasItsOwnBytes() {
        if (!canBeReadOnly()) {
            return;
        }
        byte[] expected = Arrays.copyOfRange(pattern(FILE, 5), FROM, FROM + PART);
        Pair pair = connected();
        for (boolean before : new boolean[] {true, false}) {
            for (boolean removed : new boolean[] {true, false}) {
                EndFile file = file(there());
                file.setContent(pattern(FILE, 5));
                EndMemory memory = file.map(FROM, PART, READABLE);
                if (!before) {
                    assertThat(read(pair, memory, 0, PART)).isEqualTo(expected);
                }
                if (removed) {
                    file.remove();
                } else {
                    file.replace(pattern(FILE, 6));
                }
                assertThat(read(pair, memory, 0, PART)).isEqualTo(expected);
                memory.close();
            }
        }
    }

    /// Adapters keep the pages.
    @Test
    void whatWasCutOffAFileIsNotRead() {
        if (!canBeReadOnly()) {
            return;
        }
        boolean keepsPages =
                fabric.provider().equals("ibverbs") || fabric.farDevice().equals("rxe0");
        EndMemory into = here().allocate(PART, everything());
        for (boolean before : new boolean[] {true, false}) {
            EndFile file = file(there());
            file.setContent(pattern(FILE, 5));
            EndMemory memory = file.map(FROM, PART, READABLE);
            Pair pair = connected();
            if (!before) {
                assertThat(read(pair, memory, 0, PART)).hasSize(PART);
            }
            file.truncate(FROM);
            pair.here().post(Work.read(2, memory.remote().slice(20_000, 8000), into.piece(0, 8000)));
            Outcome outcome = pair.here().one();
            assertThat(outcome.status() == WorkStatus.SUCCESS).as("%s", outcome).isEqualTo(keepsPages);
            memory.close();
        }
        EndMemory other = there().allocate(64, everything());
        assertThat(read(connected(), other, 0, 64)).isEqualTo(new byte[64]);
    }

    @Test
    void holesAreZeroes() {
        if (!canBeReadOnly()) {
            return;
        }
        EndFile sparse = closing(there().file(0));
        sparse.extend(FILE);
        EndMemory memory = sparse.map(FROM, PART, READABLE);
        assertThat(read(connected(), memory, 0, PART)).isEqualTo(new byte[PART]);
    }

    private AbstractThrowableAssert<?, ?> failure(
            Path of, Set<StandardOpenOption> how, long offset, long length, Set<AccessFlag> access) throws IOException {
        try (FileChannel channel = FileChannel.open(of, how)) {
            return assertThatThrownBy(() -> here().domain().map(channel, offset, length, access));
        }
    }

    private static void is(AbstractThrowableAssert<?, ?> failure, Errno errno, String... words) {
        failure.isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(errno))
                .hasMessageContainingAll(words);
    }

    @Test
    void badInputIsRejectedWithAdvice() throws IOException {
        Path path = folder.resolve("file");
        Files.write(path, pattern(FILE, 1));
        Set<StandardOpenOption> read = Set.of(StandardOpenOption.READ);
        Set<StandardOpenOption> write = Set.of(StandardOpenOption.WRITE);
        Set<StandardOpenOption> both = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

        is(failure(path, read, 0, 8, everything()), Errno.EACCES, "not opened for writing", "leave out LOCAL_WRITE");
        is(failure(path, write, 0, 8, READABLE), Errno.EACCES, "not opened for reading");
        is(
                failure(path, both, 0, 8, Set.of(AccessFlag.REMOTE_WRITE)),
                Errno.EINVAL,
                "REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE");
        for (Set<StandardOpenOption> how : List.of(read, both)) {
            is(
                    failure(path, how, 1, FILE, READABLE),
                    Errno.EINVAL,
                    "the file has 50000 bytes, fewer than 50000 bytes at 1",
                    "map less");
            is(failure(path, how, Long.MAX_VALUE - 1, 1, READABLE), Errno.EINVAL, "fewer than");
            failure(path, how, -1, 8, READABLE)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("offset in a file is -1");
            failure(path, how, 0, 0, READABLE)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("length of a memory region is 0");
            failure(path, how, 8, Long.MAX_VALUE, READABLE).isInstanceOf(IllegalArgumentException.class);
        }
        FileChannel closed = FileChannel.open(path, StandardOpenOption.READ);
        closed.close();
        is(assertThatThrownBy(() -> here().domain().map(closed, 0, 8, READABLE)), Errno.EBADF, "the channel is closed");
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> here().domain().map(channel, 0, 8, READABLE))
                    .isInstanceOf(RdmaInterruptedException.class)
                    .hasMessageContaining("whose channel is closed now");
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(Files.readAllBytes(path)).isEqualTo(pattern(FILE, 1));
        assertThat(mappings()).isZero();
    }

    @Test
    void nothingIsLeft() throws IOException {
        if (!canBeReadOnly()) {
            return;
        }
        Path path = folder.resolve("file");
        Files.write(path, pattern(FILE, 1));
        long files = 0;
        for (int i = 0; i < ROUNDS; i++) {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                MemoryRegion region = here().domain().map(channel, FROM, PART, i % 2 == 0 ? READABLE : everything());
                assertThat(mappings()).isEqualTo(1);
                region.close();
                assertThatThrownBy(() -> here().domain().map(channel, FILE, 1, READABLE))
                        .isInstanceOf(VerbException.class);
            }
            long now = open();
            files = i == 0 ? now : files;
            assertThat(now).as("open files after round %d", i).isLessThanOrEqualTo(files);
        }
        assertThat(mappings()).isZero();
        assertThat(Files.size(path)).isEqualTo(FILE);
    }

    private long mappings() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(folder.toString())).count();
        }
    }

    private static long open() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    @Test
    void closingTheEndUnmaps() throws IOException {
        if (!canBeReadOnly()) {
            return;
        }
        Path path = folder.resolve("file");
        Files.write(path, pattern(FILE, 1));
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            var _ = here().domain().map(channel, FROM, PART, READABLE);
        }
        assertThat(mappings()).isEqualTo(1);
        here().context().close();
        assertThat(mappings()).isZero();
    }

    @Test
    void closingARegionEndsTheRightsOfPeers() {
        if (!canBeReadOnly()) {
            return;
        }
        EndFile file = file(there());
        file.setContent(pattern(FILE, 4));
        EndMemory memory = file.map(FROM, PART, READABLE);
        Pair pair = connected(Spec.usual());
        assertThat(read(pair, memory, 7, 100)).hasSize(100);
        var remote = memory.remote();
        memory.close();
        rejected(
                pair.here(),
                Work.read(2, remote, here().allocate(PART, everything()).piece(0, PART)),
                WorkStatus.REMOTE_ACCESS_ERROR);
    }
}
