package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.MappedMemory;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.nio.RdmaSocketOptions;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Mapped memory with `riostream` of librdmacm: each end maps memory for the other, and 16 bytes each way in the
/// stream say so. Then they write there in turn. The last byte is the number of the turn, for which the other end
/// waits; the ones before it count up, which `riostream` checks.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class RsocketMemoryTest {
    private static final int PORT = 7472;
    private static final int SYNC_BYTES = 16;
    private static final int NO_TURN = 0xff;
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private static String options(int size, int count, int rounds) {
        return " -p " + PORT + " -S " + size + " -C " + count + " -I " + rounds + " -T v";
    }

    @ParameterizedTest
    @CsvSource({
        "rxe0, 10.9.0.1, 1000, 20, 3",
        "rxe0, 10.9.0.1, 300000, 3, 2",
        "siw0, 10.8.0.1, 1000, 20, 3",
        "siw0, 10.8.0.1, 300000, 3, 2",
    })
    void ourClientTalksToTheServerOfRiostream(String device, String address, int size, int count, int rounds)
            throws Exception {
        Process server = CProgram.serve(
                "riostream -b " + address + options(size, count, rounds), "rdma resource show cm_id | grep LISTEN");

        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                SocketChannel channel = provider.openSocketChannel().setOption(RdmaSocketOptions.MAPPINGS, 1)) {
            channel.connect(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            try (MappedMemory memory = mapped(channel, size)) {
                sendSync(channel);
                receiveSync(channel);
                Turns turns = new Turns(channel, memory);
                for (int round = 0; round < rounds; round++) {
                    turns.write(count);
                    turns.read();
                }
                CProgram.assertEndsWell(server);
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "rxe0, 10.9.0.1, 1000, 20, 3, ''",
        "rxe0, 10.9.0.1, 300000, 3, 2, ' -T b'",
        "siw0, 10.8.0.1, 1000, 20, 3, ''",
        "siw0, 10.8.0.1, 300000, 3, 2, ' -T a'",
    })
    void ourServerTalksToTheClientOfRiostream(
            String device, String address, int size, int count, int rounds, String more) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.setOption(RdmaSocketOptions.MAPPINGS, 1);
            listening.bind(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            Process client = CProgram.start("riostream -s " + address + options(size, count, rounds) + more);
            try (SocketChannel channel = listening.accept();
                    MappedMemory memory = mapped(channel, size)) {
                receiveSync(channel);
                sendSync(channel);
                Turns turns = new Turns(channel, memory);
                for (int round = 0; round < rounds; round++) {
                    turns.read();
                    turns.write(count);
                }
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            CProgram.assertEndsWell(client);
        }
    }

    private static MappedMemory mapped(SocketChannel channel, int size) throws IOException {
        MappedMemory memory = MappedMemory.map(channel, 0, size);
        memory.segment().set(ValueLayout.JAVA_BYTE, size - 1L, (byte) NO_TURN);
        return memory;
    }

    private static void sendSync(SocketChannel channel) throws IOException {
        assertThat(channel.write(ByteBuffer.allocate(SYNC_BYTES))).isEqualTo(SYNC_BYTES);
    }

    private static void receiveSync(SocketChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(SYNC_BYTES);
        while (bytes.hasRemaining()) {
            assertThat(channel.read(bytes)).isPositive();
        }
    }

    /// The turns of one connection. The bytes of each direction go on counting where the last turn of that direction
    /// ended.
    private static final class Turns {
        private final SocketChannel channel;
        private final MemorySegment memory;
        private final int size;
        private int turn;
        private int written;
        private int read;

        Turns(SocketChannel channel, MappedMemory memory) {
            this.channel = channel;
            this.memory = memory.segment();
            this.size = (int) this.memory.byteSize();
        }

        /// Writes so many times, of which only the last one counts.
        void write(int count) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(size);
            bytes.put(size - 1, (byte) NO_TURN);
            for (int i = 0; i < count - 1; i++) {
                assertThat(MappedMemory.write(channel, bytes.clear(), 0)).isEqualTo(size);
            }
            for (int i = 0; i < size - 1; i++) {
                bytes.put(i, (byte) written++);
            }
            bytes.put(size - 1, (byte) turn++);
            assertThat(MappedMemory.write(channel, bytes.clear(), 0)).isEqualTo(size);
        }

        void read() {
            byte expected = (byte) turn++;
            Deadline.until(
                    TimeUnit.SECONDS.toMillis(CProgram.TIMEOUT_SECONDS),
                    () -> (byte) BYTE.getAcquire(memory, size - 1L) == expected);
            assertThat((byte) BYTE.getAcquire(memory, size - 1L)).as("turn").isEqualTo(expected);
            byte[] bytes = new byte[size - 1];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) read++;
            }
            assertThat(memory.asSlice(0, bytes.length).mismatch(MemorySegment.ofArray(bytes)))
                    .isEqualTo(-1);
        }
    }
}
