package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Sockets over RDMA with `rcopy` of librdmacm, which copies a file. Each command has a header of 16 bytes in the order
/// of the host: version 0, the command, the length with what follows (2), data (4) and a number (8). The answer repeats
/// the header with the status as data.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class RsocketCopyTest {
    private static final int PORT = 7473;
    private static final int HEADER_BYTES = 16;
    private static final int OPEN = 1;
    private static final int CLOSE = 2;
    private static final int WRITE = 3;
    private static final int ANSWER = 0x80;
    private static final int MODE = 0_644;

    @TempDir
    private Path folder;

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1, 1000001", "siw0, 10.8.0.1, 300000", "siw0, 10.8.0.1, 1"})
    void theClientOfRcopyCopiesToOurServer(String device, String address, int bytes) throws Exception {
        byte[] content = content(bytes);
        Path source = Files.write(folder.resolve("source"), content);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            Process client = CProgram.start("rcopy " + source + " " + address + ":destination -p " + PORT);
            try (SocketChannel channel = listening.accept()) {
                ByteBuffer open = read(channel, HEADER_BYTES);
                byte[] path = read(channel, open.getShort(2) - HEADER_BYTES).array();
                assertThat(new String(path, StandardCharsets.US_ASCII).trim()).isEqualTo("destination");
                answer(channel, open, OPEN);

                ByteBuffer write = read(channel, HEADER_BYTES);
                assertThat(read(channel, Long.BYTES).getLong()).isEqualTo(bytes);
                assertThat(read(channel, bytes).array()).isEqualTo(content);
                answer(channel, write, WRITE);

                answer(channel, read(channel, HEADER_BYTES), CLOSE);
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            CProgram.assertEndsWell(client);
        }
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1, 1000001", "siw0, 10.8.0.1, 300000", "siw0, 10.8.0.1, 1"})
    void ourClientCopiesToTheServerOfRcopy(String device, String address, int bytes) throws Exception {
        byte[] content = content(bytes);
        Path destination = folder.resolve("destination");
        // It serves one client after the other, without end.
        Process server =
                CProgram.serve("rcopy -p " + PORT, "rdma resource show cm_id | grep LISTEN | grep -q :" + PORT);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(new InetSocketAddress(InetAddress.ofLiteral(address), PORT));
            byte[] path = destination.toString().getBytes(StandardCharsets.US_ASCII);
            // A zero ends it, and up to seven more fill it up.
            command(channel, OPEN, MODE, (path.length + Long.BYTES) & -Long.BYTES, buffer -> buffer.put(path));
            command(channel, WRITE, 0, Long.BYTES, buffer -> buffer.putLong(bytes));
            write(channel, ByteBuffer.wrap(content));
            answered(channel, WRITE);
            command(channel, CLOSE, 0, 0, buffer -> {});
        } finally {
            server.destroy();
            server.waitFor();
        }
        assertThat(destination).hasBinaryContent(content);
    }

    private static ByteBuffer read(SocketChannel channel, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        while (buffer.hasRemaining()) {
            assertThat(channel.read(buffer)).isPositive();
        }
        return buffer.flip();
    }

    private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    private static void answer(SocketChannel channel, ByteBuffer header, int command) throws IOException {
        assertThat(header.get(0)).as("version").isZero();
        assertThat(header.get(1)).as("command").isEqualTo((byte) command);
        header.put(1, (byte) (command | ANSWER))
                .putShort(2, (short) HEADER_BYTES)
                .putInt(4, 0);
        write(channel, header);
    }

    @FunctionalInterface
    private interface Rest {
        void put(ByteBuffer buffer);
    }

    /// Sends a command. All but WRITE, whose bytes follow, are answered.
    private static void command(SocketChannel channel, int command, int data, int more, Rest rest) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + more).order(ByteOrder.nativeOrder());
        buffer.put(1, (byte) command).putShort(2, (short) buffer.capacity()).putInt(4, data);
        buffer.putLong(8, command).position(HEADER_BYTES);
        rest.put(buffer);
        write(channel, buffer.clear());
        if (command != WRITE) {
            answered(channel, command);
        }
    }

    private static void answered(SocketChannel channel, int command) throws IOException {
        ByteBuffer answer = read(channel, HEADER_BYTES);
        assertThat(answer.get(1)).isEqualTo((byte) (command | ANSWER));
        assertThat(answer.getShort(2)).isEqualTo((short) HEADER_BYTES);
        assertThat(answer.getInt(4)).as("status").isZero();
        assertThat(answer.getLong(8)).isEqualTo(command);
    }
}
