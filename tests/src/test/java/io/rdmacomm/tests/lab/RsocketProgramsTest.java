package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Sockets over RDMA with `rstream` of librdmacm, which checks every byte. Both directions of a stream are one
/// running counter: 16 bytes to begin with, and then so many in each round.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class RsocketProgramsTest {
    private static final int PORT = 7471;
    private static final int SYNC_BYTES = 16;
    private static final int COUNTER_MASK = 0xff;

    private static String options(int size, int count, int rounds) {
        return " -p " + PORT + " -S " + size + " -C " + count + " -I " + rounds + " -T v";
    }

    /// Each is one that C programs fill differently: many small messages, long ones, odd sizes, single bytes.
    @ParameterizedTest
    @CsvSource({
        "rxe0, 10.9.0.1, 1000, 200, 3",
        "rxe0, 10.9.0.1, 100000, 20, 3",
        "rxe0, 10.9.0.1, 1, 400, 1",
        "siw0, 10.8.0.1, 1000, 200, 3",
        "siw0, 10.8.0.1, 100000, 20, 3",
        "siw0, 10.8.0.1, 1, 400, 1",
    })
    void ourClientTalksToTheServerOfRstream(String device, String address, int size, int count, int rounds)
            throws Exception {
        Process server = CProgram.serve(
                "rstream -b " + address + options(size, count, rounds), "rdma resource show cm_id | grep LISTEN");

        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            Counter out = new Counter();
            Counter in = new Counter();
            out.write(channel, SYNC_BYTES);
            in.read(channel, SYNC_BYTES);
            for (int round = 0; round < rounds; round++) {
                out.write(channel, size * count);
                in.read(channel, size * count);
            }
            CProgram.assertEndsWell(server);
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    /// A server that echoes passes the check of the client.
    @ParameterizedTest
    @CsvSource({
        "rxe0, 10.9.0.1, 1000, 200, 3, ''",
        "rxe0, 10.9.0.1, 30000, 4, 3, ' -k 1'",
        "siw0, 10.8.0.1, 1000, 100, 3, ''",
        "siw0, 10.8.0.1, 2000, 50, 3, ' -k 1'",
        "siw0, 10.8.0.1, 1, 300, 1, ''",
    })
    void ourServerTalksToTheClientOfRstream(String device, String address, int size, int count, int rounds, String more)
            throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            Process client = CProgram.start("rstream -s " + address + options(size, count, rounds) + more);
            try (SocketChannel channel = listening.accept()) {
                echo(channel, SYNC_BYTES);
                for (int round = 0; round < rounds; round++) {
                    // All of a round, or both sides would wait for room.
                    echo(channel, size * count);
                }
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            CProgram.assertEndsWell(client);
        }
    }

    private static void echo(SocketChannel channel, int bytes) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(bytes);
        while (all.hasRemaining()) {
            assertThat(channel.read(all)).isPositive();
        }
        all.flip();
        while (all.hasRemaining()) {
            channel.write(all);
        }
    }

    private static final class Counter {
        private int next;

        void write(SocketChannel channel, int bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(bytes);
            while (buffer.hasRemaining()) {
                buffer.put((byte) next);
                next = (next + 1) & COUNTER_MASK;
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }

        void read(SocketChannel channel, int bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(bytes);
            while (buffer.hasRemaining()) {
                assertThat(channel.read(buffer)).isPositive();
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                assertThat(buffer.get()).as("byte before %d", buffer.position()).isEqualTo((byte) next);
                next = (next + 1) & COUNTER_MASK;
            }
        }
    }
}
