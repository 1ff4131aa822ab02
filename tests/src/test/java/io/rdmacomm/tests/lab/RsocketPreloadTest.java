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
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A C program that knows only TCP, on rsockets by `librspreload.so` of librdmacm, with channels of ours at the other
/// end.
///
/// That library serves poll. Its select finds the wrong sockets in the version of Debian 12, and it knows
/// neither accept4 nor epoll, so not every program suits.
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

    private static void write(SocketChannel channel, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /// The header of an HTTP message.
    private static String header(SocketChannel channel) throws IOException {
        return until("\r\n\r\n", channel);
    }

    private static String until(String end, SocketChannel channel) throws IOException {
        StringBuilder text = new StringBuilder();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (!text.toString().endsWith(end)) {
            assertThat(channel.read(one.clear())).isEqualTo(1);
            text.append((char) one.get(0));
        }
        return text.toString();
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

    /// In the active mode of FTP (RFC 959), the data has a connection of its own, for which curl listens.
    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void ourClientSendsToCurl(String device, String address) throws Exception {
        Path loaded = folder.resolve("loaded");
        ftp(device, address, "-o " + loaded + " ", "source", data -> write(data, content));
        assertThat(loaded).hasBinaryContent(content);
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void ourClientLoadsFromCurl(String device, String address) throws Exception {
        ftp(device, address, "-T " + source + " ", "", data -> {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES + 1);
            while (data.read(bytes) >= 0) {
                assertThat(bytes.hasRemaining()).isTrue();
            }
            assertThat(Arrays.copyOf(bytes.array(), bytes.position())).isEqualTo(content);
        });
    }

    @FunctionalInterface
    private interface Transfer {
        void run(SocketChannel data) throws IOException;
    }

    private static void ftp(String device, String address, String options, String file, Transfer transfer)
            throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of(device, "*");
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            listening.bind(at(address));
            Process client = start("curl -sS --disable-eprt -P " + address + " " + options + "ftp://" + address + ":"
                    + PORT + "/" + file);
            try (SocketChannel control = listening.accept()) {
                serveFtp(provider, control, transfer);
            }
            CProgram.assertEndsWell(client);
        }
    }

    private static void serveFtp(RdmaSelectorProvider provider, SocketChannel control, Transfer transfer)
            throws IOException {
        reply(control, "220 ready");
        InetSocketAddress data = null;
        String command;
        do {
            String[] words = line(control).split(" ", 2);
            command = words[0];
            switch (command) {
                case "USER" -> reply(control, "230 logged in");
                case "PWD" -> reply(control, "257 \"/\"");
                case "TYPE" -> reply(control, "200 binary");
                case "SIZE" -> reply(control, "213 " + BYTES);
                case "PORT" -> {
                    String[] numbers = words[1].split(",");
                    int port = Integer.parseInt(numbers[4]) << 8 | Integer.parseInt(numbers[5]);
                    String place = String.join(".", Arrays.copyOf(numbers, 4));
                    data = new InetSocketAddress(InetAddress.ofLiteral(place), port);
                    reply(control, "200 known");
                }
                case "RETR", "STOR" -> {
                    reply(control, "150 connecting");
                    try (SocketChannel channel = provider.openSocketChannel()) {
                        channel.connect(data);
                        transfer.run(channel);
                    }
                    reply(control, "226 done");
                }
                case "QUIT" -> reply(control, "221 bye");
                default -> reply(control, "502 unknown");
            }
        } while (!command.equals("QUIT"));
    }

    private static void reply(SocketChannel control, String line) throws IOException {
        write(control, (line + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    private static String line(SocketChannel control) throws IOException {
        return until("\r\n", control).trim();
    }
}
