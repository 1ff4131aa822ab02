package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdmacomm.nio.MappedMemory;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.nio.RdmaSocketOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Memory that one end of an rsocket maps, and the other writes.
@ExtendWith(LeakCheck.class)
@Timeout(60)
class MappedMemoryTest {
    private static final int MAPPINGS = 2;

    private RdmaSelectorProvider provider;
    private SocketChannel writer;
    private SocketChannel owner;

    /// The client has room for mappings of the server, and the other way round.
    @BeforeEach
    void connect() throws IOException {
        provider = RdmaSelectorProvider.of("soft0", "*");
        try (ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.setOption(RdmaSocketOptions.MAPPINGS, MAPPINGS);
            listening.bind(Sockets.anyPort());
            owner = provider.openSocketChannel().setOption(RdmaSocketOptions.MAPPINGS, MAPPINGS);
            owner.connect(listening.getLocalAddress());
            writer = listening.accept();
        }
    }

    @AfterEach
    void close() throws IOException {
        owner.close();
        writer.close();
        provider.close();
    }

    private static void tell(SocketChannel from, SocketChannel to) throws IOException {
        assertThat(from.write(ByteBuffer.allocate(1))).isEqualTo(1);
        assertThat(to.read(ByteBuffer.allocate(1))).isEqualTo(1);
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }

    private static ByteBuffer random(int bytes) {
        return ByteBuffer.wrap(content(bytes));
    }

    /// More bytes than the send buffer has, and than a message.
    @ParameterizedTest
    @ValueSource(ints = {1, 65_537, 1_000_003})
    void whatWasWrittenIsThereBeforeTheStreamSaysSo(int bytes) throws Exception {
        assertThat(writer.getOption(RdmaSocketOptions.MAPPINGS)).isEqualTo(MAPPINGS);
        try (MappedMemory memory = MappedMemory.map(owner, 5_000_000_000L, bytes + 10)) {
            tell(owner, writer);
            ByteBuffer source = random(bytes);
            assertThat(MappedMemory.write(writer, source, 5_000_000_007L)).isEqualTo(bytes);
            assertThat(source.hasRemaining()).isFalse();
            tell(writer, owner);
            assertThat(memory.segment().asSlice(7, bytes).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(content(bytes));
            assertThat(memory.segment().asSlice(0, 7).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0);
            assertThat(memory.segment().asSlice(bytes + 7).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0);
        }
    }

    @Test
    void bothEndsMapAndWriteAcrossNeighbours() throws Exception {
        try (MappedMemory low = MappedMemory.map(owner, 100, 1000);
                MappedMemory high = MappedMemory.map(owner, 1100, 1000);
                MappedMemory back = MappedMemory.map(writer, 0, 10)) {
            tell(owner, writer);
            tell(writer, owner);
            assertThat(MappedMemory.write(writer, random(2000), 100)).isEqualTo(2000);
            assertThat(MappedMemory.write(owner, random(10), 0)).isEqualTo(10);
            tell(writer, owner);
            tell(owner, writer);
            assertThat(low.segment().asByteBuffer()).isEqualTo(ByteBuffer.wrap(content(2000), 0, 1000));
            assertThat(high.segment().asByteBuffer()).isEqualTo(ByteBuffer.wrap(content(2000), 1000, 1000));
            assertThat(back.segment().asByteBuffer()).isEqualTo(random(10));
        }
    }

    /// Data in the stream that nobody reads must not stop it.
    @Test
    void aStreamThatIsFullDoesNotStopIt() throws Exception {
        try (MappedMemory memory = MappedMemory.map(owner, 0, 1_000_000)) {
            tell(owner, writer);
            writer.configureBlocking(false);
            ByteBuffer filling = ByteBuffer.allocate(1 << 20);
            long written = 0;
            for (int bytes = writer.write(filling); bytes > 0; bytes = writer.write(filling.clear())) {
                written += bytes;
            }
            writer.configureBlocking(true);
            ByteBuffer source = random(1_000_000);
            assertThat(MappedMemory.write(writer, source, 0)).isEqualTo(1_000_000);
            ByteBuffer all = ByteBuffer.allocate((int) written);
            while (all.hasRemaining()) {
                owner.read(all);
            }
            tell(writer, owner);
            assertThat(memory.segment().asByteBuffer()).isEqualTo(source.flip());
        }
    }

    @Test
    void aChannelThatDoesNotBlockWritesWhatThereIsRoomFor() throws Exception {
        try (MappedMemory memory = MappedMemory.map(owner, 0, 1_000_000)) {
            tell(owner, writer);
            writer.configureBlocking(false);
            ByteBuffer source = random(1_000_000);
            while (source.hasRemaining()) {
                int before = source.position();
                assertThat(MappedMemory.write(writer, source, before)).isEqualTo(source.position() - before);
                Thread.onSpinWait();
            }
            writer.configureBlocking(true);
            tell(writer, owner);
            assertThat(memory.segment().asByteBuffer()).isEqualTo(source.flip());
        }
    }

    /// Numbers are free again, and the peer goes on with the new memory.
    @Test
    void memoryIsMappedAgainAndAgain() throws Exception {
        for (int i = 0; i < 300; i++) {
            try (MappedMemory memory = MappedMemory.map(owner, i % 7, 1 + i % 5)) {
                tell(owner, writer);
                byte[] content = new byte[1 + i % 5];
                content[i % 5] = (byte) i;
                MappedMemory.write(writer, ByteBuffer.wrap(content), i % 7);
                tell(writer, owner);
                assertThat(memory.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
            }
        }
    }

    @Test
    void whatIsNotMappedIsNotWritten() throws Exception {
        MappedMemory memory = MappedMemory.map(owner, 10, 10);
        tell(owner, writer);
        ByteBuffer source = random(11);
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> MappedMemory.write(writer, source, 10))
                .withMessageContaining("mapped nothing at offset 20");
        assertThat(source.position()).isZero();
        tell(writer, owner);
        assertThat(memory.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        memory.close();
        memory.close();
        assertThat(memory).hasToString("memory mapped at offset 10");
    }

    @Test
    void theEndOfTheChannelIsThatOfTheMapping() throws Exception {
        MappedMemory memory = MappedMemory.map(owner, 0, 10);
        owner.close();
        assertThatExceptionOfType(ClosedChannelException.class).isThrownBy(() -> MappedMemory.map(owner, 20, 10));
        assertThat(writer.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> MappedMemory.map(writer, 20, 10));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> MappedMemory.write(writer, ByteBuffer.allocate(1), 0));
        memory.close();
    }

    @Test
    void wrongCallsAreRejected() throws Exception {
        for (long[] wrong : new long[][] {{-1, 1}, {0, 0}, {0, -1}, {0, 1L << 32}, {Long.MAX_VALUE, 1}}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> MappedMemory.map(owner, wrong[0], wrong[1]))
                    .withMessageContaining("at offset " + wrong[0]);
        }
        try (SocketChannel unconnected = provider.openSocketChannel();
                SocketChannel ofJdk = SocketChannel.open()) {
            assertThatExceptionOfType(NotYetConnectedException.class)
                    .isThrownBy(() -> MappedMemory.map(unconnected, 0, 1));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> MappedMemory.map(ofJdk, 0, 1));
        }
    }

    @Test
    void tcpHasNone() throws Exception {
        try (RdmaSelectorProvider tcp = RdmaSelectorProvider.of("soft0", "!*");
                Sockets.Pair pair = Sockets.Pair.connect(tcp)) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> MappedMemory.map(pair.client(), 0, 1))
                    .withMessageContaining("TCP");
        }
    }
}
