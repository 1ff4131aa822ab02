package io.rdmacomm.tests.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.cli.Command.Result;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `send` and `recv` of different releases.
class CopyVersionsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /// The greeting of an exchange, from both sides: version 1, and the name of the protocol.
    private static final String GREETING = "52444d43" + "0000" + "000c" + "0000002d" + "0004" + "0001" + "0001"
            + "0000" + "0000000000000000" + "001b"
            + HexFormat.of().formatHex("rdmacomm-send-recv-over-tcp".getBytes(UTF_8));

    /// The first message of a sender of the first release, and the answer: later releases understand it as long as
    /// they support version 1.
    private static final String HELLO_1 = "52444d43" + "0000" + "000e" + "00000038" + "52434631" + "00000001"
            + "00000005" + "00000000" + "0000000000000001" + "0000000000000001" + "0000000000000000"
            + "0000000000001000" + "0000000000000001";

    private static final String WELCOME_1 = "52444d43" + "0000" + "000e" + "00000028" + "52434631" + "00000001"
            + "00000003" + "00000000" + "0000000000000001" + "0000000000000001" + "0000000000000000";

    @TempDir
    private Path root;

    private Path target;

    /// The messages of a file copy by their position on the wire.
    private enum Kind {
        HELLO,
        OFFER,
        ACCEPT,
        REJECT,
        END,
        ABORT,
        DONE
    }

    private static final FrameCodec<Kind> CODEC = new FrameCodec<>(0x52434631, Kind.class, "is this recv?");

    @BeforeEach
    void makeTarget() throws IOException {
        target = Files.createDirectory(root.resolve("target"));
    }

    private Command receive(String transport) throws IOException {
        return Command.start(
                "recv",
                "--dir",
                target.toString(),
                "--port",
                "0",
                "--bind",
                "127.0.0.1",
                "--transport",
                transport,
                "--once");
    }

    private Result send(String transport, int port) throws IOException {
        Path file = Files.write(root.resolve("file"), new byte[0]);
        return Command.run("send", file.toString(), "127.0.0.1:" + port, "--transport", transport);
    }

    private static CompletableFuture<Boolean> inThread(Step step) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        step.run();
                        return true;
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                },
                task -> Thread.ofVirtual().start(task));
    }

    private interface Step {
        void run() throws IOException;
    }

    /// The numbers of a message, and as many behind them as a later release may have.
    private static long[] numbers(boolean later, long... known) {
        return later
                ? Stream.of(known, new long[] {4711, -1})
                        .flatMapToLong(Arrays::stream)
                        .toArray()
                : known;
    }

    private static Frame<Kind> offer(boolean later) {
        return Frame.of(Kind.OFFER, "file", numbers(later, 1, 0, 0, 0, 0644, 0, 0, 0, 0));
    }

    /// Either end of a TCP connection, written by another release.
    private static final class Wire implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;

        Wire(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            this.in = new DataInputStream(socket.getInputStream());
        }

        void send(String digits) throws IOException {
            socket.getOutputStream().write(HexFormat.of().parseHex(digits));
        }

        void send(Frame<Kind> frame) throws IOException {
            socket.getOutputStream().write(bytes(frame));
        }

        /// As a message of the exchange, with more behind it.
        void sendMessage(Frame<Kind> frame) throws IOException {
            byte[] message = bytes(frame);
            ByteBuffer all = ByteBuffer.allocate(12 + message.length + 3).put("RDMC".getBytes(UTF_8));
            all.putShort((short) 0x4711)
                    .putShort((short) 14)
                    .putInt(message.length + 3)
                    .put(message);
            socket.getOutputStream().write(all.array());
        }

        private static byte[] bytes(Frame<Kind> frame) {
            ByteBuffer all = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
            byte[] message = new byte[CODEC.write(frame, MemorySegment.ofBuffer(all))];
            all.get(message);
            return message;
        }

        /// The greetings of the exchange; the client's comes first.
        void greet(boolean client) throws IOException {
            if (client) {
                send(GREETING);
            }
            assertThat(receive(GREETING.length() / 2)).isEqualTo(GREETING);
            if (!client) {
                send(GREETING);
            }
        }

        String receive(int count) throws IOException {
            return HexFormat.of().formatHex(in.readNBytes(count));
        }

        Frame<Kind> receive() throws IOException {
            byte[] header = in.readNBytes(FrameCodec.HEADER_BYTES);
            byte[] all = Arrays.copyOf(header, CODEC.length(MemorySegment.ofArray(header)));
            in.readFully(all, header.length, all.length - header.length);
            return CODEC.read(MemorySegment.ofArray(all));
        }

        boolean isAtEnd() throws IOException {
            return in.read() < 0;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void aReceiverOverTcpUnderstandsASenderOfAnotherRelease(boolean later) throws Exception {
        try (Command receiver = receive("tcp")) {
            try (Wire sender =
                    new Wire(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(receiver.port())))) {
                sender.greet(true);
                if (later) {
                    sender.sendMessage(Frame.of(Kind.HELLO, "more", numbers(true, 1, 9, -1, 4096, 1)));
                } else {
                    sender.send(HELLO_1);
                }
                assertThat(sender.receive(WELCOME_1.length() / 2)).isEqualTo(WELCOME_1);
                sender.send(offer(later));
                assertThat(sender.receive().kind()).isEqualTo(Kind.ACCEPT);
                sender.send(Frame.of(Kind.END, numbers(later, 1, 0)));
                assertThat(sender.receive().kind()).isEqualTo(Kind.DONE);
            }
            assertThat(receiver.end().exitCode()).isZero();
        }
        assertThat(target.resolve("file")).exists();
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void aSenderOverTcpUnderstandsAReceiverOfAnotherRelease(boolean later) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Boolean> receiving = inThread(() -> {
                try (Wire receiver = new Wire(listener.accept())) {
                    receiver.greet(false);
                    assertThat(receiver.receive(12 + 16 + 3 * 8))
                            .isEqualTo(HELLO_1.substring(0, 2 * (12 + 16 + 3 * 8)));
                    receiver.receive(2 * 8);
                    if (later) {
                        receiver.sendMessage(Frame.of(Kind.HELLO, "more", numbers(true, 1, 9, -1)));
                    } else {
                        receiver.send(WELCOME_1);
                    }
                    assertThat(receiver.receive().kind()).isEqualTo(Kind.OFFER);
                    receiver.send(Frame.of(Kind.ACCEPT, numbers(later, 1, 0)));
                    assertThat(receiver.receive().kind()).isEqualTo(Kind.END);
                    receiver.send(Frame.of(Kind.DONE, "file", numbers(later, 1, 0)));
                    assertThat(receiver.isAtEnd()).isTrue();
                }
            });
            Result sent = send("tcp", listener.getLocalPort());

            assertThat(sent.err()).isEmpty();
            assertThat(sent.exitCode()).isZero();
            assertThat(receiving.join()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"rdma, tcp", "tcp, rdma"})
    void aSenderOverTheOtherTransportIsToldSo(String receiving, String sending) throws Exception {
        try (Command receiver = receive(receiving)) {
            Result sent = send(sending, Integer.parseInt(receiver.port()));

            assertThat(sent.exitCode()).isEqualTo(1);
            assertThat(sent.err()).contains("use the same --transport on both sides");
        }
    }

    @Test
    void aSenderOverTcpWithoutACommonVersionIsToldBothRanges() throws Exception {
        try (Command receiver = receive("tcp");
                Wire sender =
                        new Wire(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(receiver.port())))) {
            sender.greet(true);
            // What follows the versions need not be what this release understands.
            sender.sendMessage(Frame.of(Kind.HELLO, 2, 3, 0));

            assertThat(sender.receive(WELCOME_1.length() / 2)).isEqualTo(WELCOME_1);
            assertThat(sender.isAtEnd()).isTrue();
        }
    }

    @Test
    void aReceiverOverTcpWithoutACommonVersionIsNamedWithBothRanges() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Boolean> receiving = inThread(() -> {
                try (Wire receiver = new Wire(listener.accept())) {
                    receiver.greet(false);
                    receiver.receive(HELLO_1.length() / 2);
                    receiver.sendMessage(Frame.of(Kind.HELLO, 2, 3, 0));
                    assertThat(receiver.isAtEnd()).isTrue();
                }
            });
            assertThatItNamesBothRanges(send("tcp", listener.getLocalPort()));
            assertThat(receiving.join()).isTrue();
        }
    }

    private static void assertThatItNamesBothRanges(Result sent) {
        assertThat(sent.exitCode()).isEqualTo(1);
        assertThat(sent.err())
                .contains("the receiver speaks versions 2 to 3 of the file copy protocol, this side version 1")
                .contains("update rdmacomm on this side");
    }

    /// Messages over RDMA.
    private static FrameChannel<Kind> control(Session session, EndPoint endPoint) {
        return new FrameChannel<>(session, endPoint.channel(0), CODEC, "control", TIMEOUT);
    }

    @Test
    void aReceiverOverRdmaUnderstandsASenderOfALaterRelease() throws Exception {
        try (Command receiver = receive("rdma")) {
            try (ClientSession session = connect(receiver);
                    FrameChannel<Kind> control = control(session, session.endPoint())) {
                control.send(Frame.of(Kind.HELLO, "more", numbers(true, 1, 9, -1, 4096, 4)));
                assertThat(control.receive().numbers()).containsExactly(1L, 1L, 0L);
                control.send(offer(true));
                assertThat(control.receive().kind()).isEqualTo(Kind.ACCEPT);
                control.send(Frame.of(Kind.END, numbers(true, 1, 0)));
                assertThat(control.receive().kind()).isEqualTo(Kind.DONE);
            }
            assertThat(receiver.end().exitCode()).isZero();
        }
        assertThat(target.resolve("file")).exists();
    }

    private static ClientSession connect(Command receiver) throws IOException {
        return ClientSession.connect(
                SessionOptions.defaults().withAddress("127.0.0.1", Integer.parseInt(receiver.port())));
    }

    @Test
    void aSenderOverRdmaWithoutACommonVersionIsToldBothRanges() throws Exception {
        try (Command receiver = receive("rdma")) {
            try (ClientSession session = connect(receiver);
                    FrameChannel<Kind> control = control(session, session.endPoint())) {
                control.send(Frame.of(Kind.HELLO, 2, 3, 0));

                Frame<Kind> answer = control.receive();
                assertThat(answer.kind()).isEqualTo(Kind.HELLO);
                assertThat(answer.numbers()).containsExactly(1L, 1L, 0L);
            }
            assertThat(receiver.end().err())
                    .contains("the sender speaks versions 2 to 3 of the file copy protocol, this side version 1")
                    .contains("update rdmacomm on this side");
        }
    }

    @Test
    void aReceiverOverRdmaWithoutACommonVersionIsNamedWithBothRanges() throws Exception {
        try (ServerSession session =
                ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0))) {
            CompletableFuture<Boolean> receiving = inThread(() -> {
                try (EndPoint sender = session.accept(TIMEOUT);
                        FrameChannel<Kind> control = control(session, sender)) {
                    assertThat(control.receive().numbers()).startsWith(1L, 1L, 0L);
                    control.send(Frame.of(Kind.HELLO, 2, 3, 0));
                }
            });
            assertThatItNamesBothRanges(send("rdma", session.port()));
            assertThat(receiving.join()).isTrue();
        }
    }
}
