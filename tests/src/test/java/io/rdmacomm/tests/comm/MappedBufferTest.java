package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.OtherDevices;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Files as buffers of a session.
@ExtendWith(LeakCheck.class)
final class MappedBufferTest {
    private static final int FILE = 300_000;
    private static final int FROM = 5_000;
    private static final int PART = 200_001;
    private static final int ROUNDS = Amount.of(100, 20);
    private static final Set<AccessFlag> READABLE = EnumSet.of(AccessFlag.REMOTE_READ);
    private static final Set<AccessFlag> WRITABLE =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

    private final byte[] content = new byte[FILE];

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        new Random(seed).nextBytes(content);
        file = folder.resolve("file");
        Files.write(file, content);
    }

    private static RdmaBuffer map(ConnectedPair pair, Path path, Set<AccessFlag> access) throws IOException {
        boolean writable = access.contains(AccessFlag.LOCAL_WRITE);
        try (FileChannel channel = writable ? FileChannel.open(path, READ, WRITE) : FileChannel.open(path, READ)) {
            return pair.server.map("file", channel, FROM, PART, access);
        }
    }

    private static long stagedBy(ConnectedPair pair) {
        return pair.server.context().counters(1).get("staged_copies_for_peers");
    }

    @Test
    void aPeerReadsAFileAndNoThreadOfItsOwnerCopies() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer buffer = map(pair, file, READABLE);
            assertThat(buffer.length()).isEqualTo(PART);
            assertThat(buffer.blockCount()).isEqualTo(1);
            assertThat(buffer.segment().isReadOnly()).isTrue();
            pair.serverEnd.announce(buffer);
            RemoteBuffer remote = pair.clientEnd.peerBuffer("file", TIMEOUT);
            assertThat(remote.access()).isEqualTo(READABLE);
            RdmaBuffer into = pair.client.allocate(PART, 1);

            pair.clientChannel().blocking(TIMEOUT).read(into.whole(), remote, 0);

            assertThat(into.segment().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOfRange(content, FROM, FROM + PART));
            assertThat(stagedBy(pair)).isZero();
            assertThat(pair.clientEnd.directView(remote)).isNull();
        }
    }

    @Test
    void rightsForOnePeerAreForTheFile() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer buffer = map(pair, file, EnumSet.of(AccessFlag.LOCAL_WRITE));
            pair.serverEnd.announce(buffer, WRITABLE);
            RemoteBuffer remote = pair.clientEnd.peerBuffer("file", TIMEOUT);
            RdmaBuffer from = pair.client.allocate(PART, 1);
            from.segment().fill((byte) 6);

            pair.clientChannel().blocking(TIMEOUT).write(from.slice(0, 1000), remote, 50);

            Arrays.fill(content, FROM + 50, FROM + 1050, (byte) 6);
            assertThat(Files.readAllBytes(file)).isEqualTo(content);
            assertThat(stagedBy(pair)).isZero();
            buffer.segment().set(ValueLayout.JAVA_BYTE, 3, (byte) 9);
            buffer.segment().force();
            assertThat(Files.readAllBytes(file)[FROM + 3]).isEqualTo((byte) 9);
        }
    }

    @Test
    void aReadOnlyFileGivesNoOtherRights() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer buffer = map(pair, file, Set.of());
            assertThatThrownBy(() -> pair.serverEnd.announce(buffer, WRITABLE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("buffer 'file'")
                    .hasMessageContaining("without LOCAL_WRITE");
            pair.serverEnd.announce(buffer, READABLE);
            RemoteBuffer remote = pair.clientEnd.peerBuffer("file", TIMEOUT);
            RdmaBuffer memory = pair.client.allocate(8, 1);
            assertThatThrownBy(() -> pair.clientChannel().blocking(TIMEOUT).write(memory.whole(), remote, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.serverChannel().blocking(TIMEOUT).read(buffer.slice(0, 8), remote, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void theSessionUnmapsItsFiles() throws IOException {
        MemorySegment memory;
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer buffer = map(pair, file, READABLE);
            memory = buffer.segment();
            pair.serverEnd.announce(buffer);
            assertThat(mappings()).isEqualTo(1);
        }
        assertThat(mappings()).isZero();
        assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void nothingIsLeftAfterManyRounds() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer into = pair.client.allocate(PART, 1);
            for (int i = 0; i < ROUNDS; i++) {
                RdmaBuffer buffer = map(pair, file, i % 2 == 0 ? READABLE : WRITABLE);
                pair.serverEnd.announce(buffer, READABLE);
                RemoteBuffer remote = pair.clientEnd.peerBuffer("file", TIMEOUT);
                pair.clientChannel().blocking(TIMEOUT).read(into.slice(0, 100), remote, 0);
                pair.serverEnd.withdraw(buffer);
                buffer.close();
                assertThatThrownBy(() -> map(pair, folder.resolve("none"), READABLE))
                        .isInstanceOf(IOException.class);
            }
            ConnectedPair.eventually(() -> mappings() == 0);
        }
    }

    @Test
    @SuppressWarnings("try") // closing is what is tested
    void badInputIsRejectedAndLeavesNothing() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
                FileChannel channel = FileChannel.open(file, READ)) {
            assertThatThrownBy(() -> pair.server.map("file", channel, 0, 100, WRITABLE))
                    .isInstanceOfSatisfying(
                            VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EACCES))
                    .hasMessageContaining("open it with READ and WRITE");
            assertThatThrownBy(() -> pair.server.map("file", channel, 1, FILE, READABLE))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContaining("the file has 300000 bytes");
            assertThatThrownBy(() -> pair.server.map("file", channel, 0, 0, READABLE))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.server.map("file", channel, -1, 8, READABLE))
                    .isInstanceOf(IllegalArgumentException.class);
            long registered = pair.server.statistics().registeredBytes();
            RdmaBuffer first = pair.server.map("file", channel, 0, 100, READABLE);
            assertThatThrownBy(() -> pair.server.map("file", channel, 0, 100, READABLE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("there is a buffer 'file'");
            assertThat(mappings()).isEqualTo(1);
            assertThat(pair.server.statistics().registeredBytes()).isEqualTo(registered + 100);
            first.close();
            assertThat(mappings()).isZero();
            assertThat(pair.server.statistics().registeredBytes()).isEqualTo(registered);
            channel.close();
            assertThatThrownBy(() -> pair.server.map("file", channel, 0, 100, READABLE))
                    .isInstanceOfSatisfying(
                            VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
            pair.server.close();
            assertThatThrownBy(() -> pair.server.map("file", channel, 0, 100, READABLE))
                    .isInstanceOf(ClosedException.class);
        }
        assertThat(Files.size(file)).isEqualTo(FILE);
    }

    @Test
    void whatWasCutOffCostsTheEndpoint() throws IOException {
        cutOff(SessionOptions.defaults());
    }

    /// The checksum of what is not there must not end the process.
    @Test
    void whatWasCutOffCostsTheEndpointOverTcpWithChecksums() throws IOException {
        try (OtherDevices _ = OtherDevices.of("checked0=127.0.0.1?sharedMemory=false&checksum=true")) {
            cutOff(SessionOptions.defaults().withDevice("checked0"));
        }
    }

    private void cutOff(SessionOptions options) throws IOException {
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer buffer = map(pair, file, READABLE);
            pair.serverEnd.announce(buffer);
            EndPoint end = pair.clientEnd;
            RemoteBuffer remote = end.peerBuffer("file", TIMEOUT);
            RdmaBuffer into = pair.client.allocate(PART, 1);
            RdmaChannel channel = pair.clientChannel();
            channel.blocking(TIMEOUT).read(into.whole(), remote, 0);
            try (FileChannel cutting = FileChannel.open(file, WRITE)) {
                cutting.truncate(50_000);
            }

            assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(into.slice(0, 100_000), remote, 60_000))
                    .isInstanceOf(OperationException.class);

            RdmaBuffer other = pair.server.allocate("other", 8);
            assertThat(other.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
        }
    }

    private long mappings() {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(folder.toString())).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
