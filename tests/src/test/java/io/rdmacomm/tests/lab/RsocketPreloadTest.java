package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// C programs that know only TCP, on rsockets by `librspreload.so` of librdmacm, with channels of ours at the other
/// end.
///
/// An end of this library knows neither accept4 nor epoll before version 64 of rdma-core, so not every program suits.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class RsocketPreloadTest {
    private static final String PRELOADED = "env LD_PRELOAD=$(ls /usr/lib/*/rsocket/librspreload.so) ";
    private static final int PORT = 7474;
    private static final int BYTES = 300_000;

    @TempDir
    private Path folder;

    private final byte[] content = new byte[BYTES];
    private Path source;
    private Path destination;

    @BeforeEach
    void fill() throws IOException {
        new Random(BYTES).nextBytes(content);
        source = Files.write(folder.resolve("source"), content);
        destination = folder.resolve("destination");
    }

    private static InetSocketAddress at(String address) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), PORT);
    }

    private static Process start(String command) {
        return CProgram.start(PRELOADED + command);
    }

    private static Process serve(String command) {
        return CProgram.serve(PRELOADED + command, "rdma resource show cm_id | grep LISTEN | grep -q :" + PORT);
    }

    private static byte[] all(SocketChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES + 1);
        while (channel.read(bytes) >= 0) {
            assertThat(bytes.hasRemaining()).isTrue();
        }
        return java.util.Arrays.copyOf(bytes.array(), bytes.position());
    }

    private static void write(SocketChannel channel, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /// The header of an HTTP message.
    private static String header(SocketChannel channel) throws IOException {
        StringBuilder header = new StringBuilder();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (!header.toString().endsWith("\r\n\r\n")) {
            assertThat(channel.read(one.clear())).isEqualTo(1);
            header.append((char) one.get(0));
        }
        return header.toString();
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void curlLoadsFromOurServer(String device, String address) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(at(address));
            Process client = start("curl -sS -o " + destination + " http://" + address + ":" + PORT + "/source");
            try (SocketChannel channel = listening.accept()) {
                assertThat(header(channel)).startsWith("GET /source HTTP/1.1\r\n");
                String header = "HTTP/1.1 200 OK\r\nContent-Length: " + BYTES + "\r\nConnection: close\r\n\r\n";
                write(channel, header.getBytes(StandardCharsets.US_ASCII));
                write(channel, content);
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            CProgram.assertEndsWell(client);
        }
        assertThat(destination).hasBinaryContent(content);
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void curlSendsToOurServer(String device, String address) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(at(address));
            Process client = start("curl -sS -H Expect: -T " + source + " http://" + address + ":" + PORT + "/");
            try (SocketChannel channel = listening.accept()) {
                assertThat(header(channel)).startsWith("PUT /source HTTP/1.1\r\n");
                ByteBuffer body = ByteBuffer.allocate(BYTES);
                while (body.hasRemaining()) {
                    assertThat(channel.read(body)).isPositive();
                }
                assertThat(body.array()).isEqualTo(content);
                String header = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
                write(channel, header.getBytes(StandardCharsets.US_ASCII));
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            CProgram.assertEndsWell(client);
        }
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void ourClientSendsToTheServerOfSocat(String device, String address) throws Exception {
        Process server = serve("socat -u TCP-LISTEN:" + PORT + ",bind=" + address + " CREATE:" + destination);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(at(address));
            write(channel, content);
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
        CProgram.assertEndsWell(server);
        assertThat(destination).hasBinaryContent(content);
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void ourClientLoadsFromTheServerOfSocat(String device, String address) throws Exception {
        // The socket comes first: the library is not ready before.
        Process server = serve("socat -U TCP-LISTEN:" + PORT + ",bind=" + address + " OPEN:" + source);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(at(address));
            assertThat(all(channel)).isEqualTo(content);
        }
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void socatSendsToOurServer(String device, String address) throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(at(address));
            Process client = start("socat -U TCP:" + address + ":" + PORT + " OPEN:" + source);
            try (SocketChannel channel = listening.accept()) {
                assertThat(all(channel)).isEqualTo(content);
            }
            CProgram.assertEndsWell(client);
        }
    }
}
