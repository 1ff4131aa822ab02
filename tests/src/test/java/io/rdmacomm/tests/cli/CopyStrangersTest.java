package io.rdmacomm.tests.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `recv --transport tcp` beside strangers: what they can make it spend is bounded, and an honest sender is served.
class CopyStrangersTest {
    private static final String[] SMALL = {"-Xmx96m", "-XX:MaxDirectMemorySize=16m"};
    private static final int HEADER = 12;
    private static final int REFUSE = 4;
    private static final int GREETING = 12;
    private static final int MESSAGE = 14;

    @TempDir
    private Path root;

    private enum Kind {
        HELLO
    }

    @Test
    @Tag("slow")
    void silentStrangersCostAConnectionEachAndNoMore() throws Exception {
        Path target = Files.createDirectory(root.resolve("target"));
        try (Command receiver = receive(List.of(), target)) {
            int port = Integer.parseInt(receiver.port());
            long threads = receiver.threads();
            List<Socket> strangers = new ArrayList<>();
            try {
                for (int i = 0; i < 300; i++) {
                    strangers.add(connect(port));
                }
                assertThat(receiver.threads()).isLessThan(threads + 30);
                awaitHonestSender(port);
            } finally {
                close(strangers);
            }
        }
        assertThat(target.resolve("file")).exists();
    }

    @Test
    @Tag("slow")
    void aSenderGetsNoMemoryBeforeAFileIsAccepted() throws Exception {
        Path target = Files.createDirectory(root.resolve("target"));
        try (Command receiver = receive(List.of(), target)) {
            int port = Integer.parseInt(receiver.port());
            List<Socket> greedy = new ArrayList<>();
            try {
                // 60 MiB altogether, if each got what it asks for.
                for (int i = 0; i < 60; i++) {
                    Socket socket = connect(port);
                    greedy.add(socket);
                    greet(socket);
                    assertThat(type(socket)).as("answer to greeting %d", i).isEqualTo(MESSAGE);
                }
                awaitHonestSender(port);
            } finally {
                close(greedy);
            }
        }
        assertThat(target.resolve("file")).exists();
    }

    @Test
    @Timeout(60)
    void aSilentSenderDoesNotDelayTheEndOfTheReceiver() throws Exception {
        Path target = Files.createDirectory(root.resolve("target"));
        try (Command receiver = receive(List.of(), target);
                Socket silent = connect(Integer.parseInt(receiver.port()))) {
            greet(silent);
            assertThat(type(silent)).isEqualTo(MESSAGE);

            long begin = System.nanoTime();
            receiver.signal("INT");
            receiver.end();
            // It would wait for half a minute otherwise.
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(15));
        }
    }

    @Test
    @Tag("slow")
    void oneAddressGetsNoMoreThanItsShareOfPlaces() throws Exception {
        Path target = Files.createDirectory(root.resolve("target"));
        try (Command receiver = receive(List.of(), target)) {
            int port = Integer.parseInt(receiver.port());
            List<Socket> senders = new ArrayList<>();
            try {
                for (int i = 0; i < 65; i++) {
                    Socket socket = connect(port);
                    senders.add(socket);
                    greet(socket);
                    assertThat(type(socket)).as("answer to greeting %d", i).isEqualTo(i < 64 ? MESSAGE : REFUSE);
                }
            } finally {
                close(senders);
            }
            awaitHonestSender(port);
        }
    }

    @Test
    @Tag("slow")
    @Tag("long")
    @Timeout(180)
    void theEndOfDescriptorsIsNotTheEndOfTheReceiver() throws Exception {
        Path target = Files.createDirectory(root.resolve("target"));
        try (Command receiver = receive(List.of("sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"), target)) {
            int port = Integer.parseInt(receiver.port());
            for (int wave = 0; wave < 3; wave++) {
                List<Socket> strangers = new ArrayList<>();
                try {
                    for (int i = 0; i < 200; i++) {
                        strangers.add(connect(port));
                    }
                } finally {
                    close(strangers);
                }
            }
            awaitHonestSender(port);
        }
    }

    private static Command receive(List<String> launcher, Path target) throws IOException {
        return Command.launch(
                launcher,
                SMALL,
                Map.of(),
                "recv",
                "--dir",
                target.toString(),
                "--port",
                "0",
                "--bind",
                "127.0.0.1",
                "--transport",
                "tcp");
    }

    private void awaitHonestSender(int port) throws IOException {
        Path file = Files.write(root.resolve("file"), new byte[3 << 20]);
        Deadline.await(
                "an honest sender is served",
                () -> Command.run("send", file.toString(), "127.0.0.1:" + port, "--transport", "tcp")
                                .exitCode()
                        == 0);
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    /// Greets as a sender does, and asks for the largest block.
    private static void greet(Socket socket) throws IOException {
        byte[] name = "rdmacomm-send-recv-over-tcp".getBytes(UTF_8);
        ByteBuffer versions = ByteBuffer.allocate(18 + name.length);
        versions.putShort((short) 4).putShort((short) 1).putShort((short) 1).putShort((short) 0);
        versions.putLong(0).putShort((short) name.length).put(name);
        send(socket, GREETING, versions.flip());
        assertThat(type(socket)).isEqualTo(GREETING);
        ByteBuffer hello = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
        int length = new FrameCodec<>(0x52434631, Kind.class, "is this recv?")
                .write(Frame.of(Kind.HELLO, 1, 1, 0, 1 << 20, 1), MemorySegment.ofBuffer(hello));
        send(socket, MESSAGE, hello.limit(length));
    }

    private static void send(Socket socket, int type, ByteBuffer payload) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(HEADER + payload.remaining());
        frame.put(new byte[] {'R', 'D', 'M', 'C'})
                .putShort((short) 0)
                .putShort((short) type)
                .putInt(payload.remaining());
        socket.getOutputStream().write(frame.put(payload).array());
    }

    /// The type of the frame that comes.
    private static int type(Socket socket) throws IOException {
        socket.setSoTimeout(30_000);
        InputStream in = socket.getInputStream();
        byte[] header = in.readNBytes(HEADER);
        in.readNBytes(ByteBuffer.wrap(header).getInt(8));
        return ByteBuffer.wrap(header).getShort(6);
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
