package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `recv` against senders that break the protocol.
class HostileSenderTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir
    private Path root;

    /// The messages of a file copy by their position on the wire, and one that does not exist.
    private enum Kind {
        HELLO,
        OFFER,
        ACCEPT,
        REJECT,
        END,
        ABORT,
        DONE,
        FAILED,
        CREDIT,
        DATA,
        RING,
        SKIP,
        BUSY,
        UNKNOWN
    }

    @Test
    void noNameLeadsOutOfTheDirectory() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        List<String> names = List.of(
                "/etc/rdmacomm-escaped",
                "../escaped",
                "..",
                ".",
                "",
                "sub/file",
                "nul\0byte",
                "x".repeat(300),
                "/",
                "a/../../b",
                ".bashrc",
                ".rdmacomm.1.part");
        try (Command receiver = receive(target, "--once")) {
            try (Sender sender = new Sender(receiver.port())) {
                sender.greet();
                long number = 1;
                for (String name : names) {
                    Frame<Kind> answer = sender.offer(number++, 0, name);

                    assertThat(answer.kind()).as(name).isEqualTo(Kind.REJECT);
                    assertThat(answer.text()).as(name).isNotBlank();
                }
            }
            Command.Result result = receiver.end();
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err().strip().lines()).hasSize(names.size());
        }
        assertThat(contents(target)).isEmpty();
        assertThat(contents(root)).containsExactly("target");
        assertThat(Path.of("/etc/rdmacomm-escaped")).doesNotExist();
    }

    @Test
    void aWrongSizeOrChecksumLeavesNothing() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        try (Command receiver = receive(target, "--once")) {
            try (Sender sender = new Sender(receiver.port())) {
                sender.greet();
                assertThat(sender.offer(1, -1, "negative").kind()).isEqualTo(Kind.REJECT);
                sender.offer(2, 100, "short");
                assertThat(sender.ask(Frame.of(Kind.END, 2, 0)).kind()).isEqualTo(Kind.FAILED);
                sender.offer(3, 0, "checksum");
                assertThat(sender.ask(Frame.of(Kind.END, 3, 4711)).kind()).isEqualTo(Kind.FAILED);
            }
            assertThat(receiver.end().exitCode()).isEqualTo(1);
        }
        assertThat(contents(target)).isEmpty();
    }

    @Test
    void aProtocolErrorEndsOnlyThatSender() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        Path file = Files.writeString(root.resolve("file"), "content");
        try (Command receiver = receive(target)) {
            String port = receiver.port();
            try (Sender sender = new Sender(port)) {
                sender.greet();
                sender.send(Frame.of(Kind.UNKNOWN, "nonsense"));
            }
            for (long[] numbers : new long[][] {{4, 10, 1}, {-1, 10, 1}, {0, 4097, 1}, {0, -1, 1}, {0, 1, 2}, {0}}) {
                try (Sender sender = new Sender(port)) {
                    sender.greet();
                    assertThat(sender.offer(1, 100, "bogus").kind()).isEqualTo(Kind.ACCEPT);
                    sender.send(Frame.of(Kind.DATA, numbers));
                }
            }
            try (Sender sender = new Sender(port)) {
                assertThat(sender.ask(Frame.of(Kind.HELLO, 1, 1, 0, 1L << 40, 1L << 40))
                                .kind())
                        .isEqualTo(Kind.REJECT);
            }
            for (long[] versions :
                    new long[][] {{0, 1}, {1, 0}, {2, 1}, {-1, 1}, {1, 1L << 16}, {1L << 32, 1L << 33}}) {
                try (Sender sender = new Sender(port)) {
                    Frame<Kind> answer = sender.ask(Frame.of(Kind.HELLO, versions[0], versions[1], 0, 4096, 4));
                    assertThat(answer.kind()).isEqualTo(Kind.REJECT);
                    assertThat(answer.text()).contains("invalid greeting", "version is");
                }
            }
            assertThat(Command.run("send", file.toString(), "localhost:" + port).exitCode())
                    .isZero();
            receiver.interrupt();
            receiver.end();
        }
        assertThat(contents(target)).containsExactly("file");
    }

    @Test
    void aDirectoryIsNoWayOut() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        Files.createSymbolicLink(target.resolve("link"), root);
        try (Command receiver = receive(target, "--once")) {
            try (Sender sender = new Sender(receiver.port())) {
                sender.greet();
                long number = 1;
                for (String name : List.of("link", "..", ".", "", "/", "a/b", ".ssh")) {
                    assertThat(sender.offer(number++, 0, Sender.FOLDER, 0, name).kind())
                            .as(name)
                            .isEqualTo(Kind.REJECT);
                }
                long inner = number++;
                assertThat(sender.offer(inner, 0, Sender.FOLDER, 0, "inner").kind())
                        .isEqualTo(Kind.ACCEPT);
                assertThat(sender.offer(number++, inner, Sender.FILE, 0, "../../x")
                                .kind())
                        .isEqualTo(Kind.REJECT);
                assertThat(sender.offer(number++, 4711, Sender.FILE, 0, "x").kind())
                        .isEqualTo(Kind.REJECT);
            }
            assertThat(receiver.end().exitCode()).isEqualTo(1);
        }
        assertThat(contents(target)).containsExactlyInAnyOrder("inner", "link");
        assertThat(contents(root)).containsExactly("target");
    }

    @Test
    void sendersGetMemoryOnlyForFilesAndOnlyFromOneBudget() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        List<Sender> senders = new ArrayList<>();
        try (Command receiver = receive(target, "--memory", "8M")) {
            String port = receiver.port();
            long all = 0;
            Frame<Kind> answer = Frame.of(Kind.BUSY);
            for (int i = 0; i < 20 && answer.kind() != Kind.REJECT; i++) {
                Sender sender = new Sender(port);
                senders.add(sender);
                // The largest that can be asked for.
                assertThat(sender.ask(Frame.of(Kind.HELLO, 1, 1, 0, 1 << 20, 64))
                                .kind())
                        .isEqualTo(Kind.HELLO);
                answer = sender.ask(Sender.toOffer(1, 0, Sender.FILE, 1L << 40, "file"));
                if (answer.kind() == Kind.RING) {
                    all += answer.number(0) * answer.number(1);
                }
            }

            assertThat(all).isBetween(7L << 20, 8L << 20);
            assertThat(answer.kind()).isEqualTo(Kind.REJECT);
            assertThat(answer.text()).contains("--memory");
            assertThat(senders.size()).isGreaterThan(3);
            senders.forEach(Sender::close);
            senders.clear();
            Path file = Files.write(root.resolve("honest"), new byte[100_000]);
            Deadline.await(
                    "memory for an honest sender",
                    () -> Command.run("send", file.toString(), "localhost:" + port)
                                    .exitCode()
                            == 0);
        } finally {
            senders.forEach(Sender::close);
        }
        assertThat(contents(target)).contains("honest");
    }

    private static Command receive(Path target, String... more) throws IOException {
        return Command.start(Stream.concat(
                        Stream.of("recv", "--dir", target.toString(), "--port", "0", "--bind", "127.0.0.1"),
                        Stream.of(more))
                .toArray(String[]::new));
    }

    private static List<String> contents(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /// A connection over which a test sends any message.
    private static final class Sender implements AutoCloseable {
        private static final long FILE = 0;
        private static final long FOLDER = 1;

        private final ClientSession session;
        private final FrameChannel<Kind> control;

        Sender(String port) {
            session = ClientSession.connect(SessionOptions.defaults().withAddress("127.0.0.1", Integer.parseInt(port)));
            control = new FrameChannel<>(
                    session,
                    session.endPoint().channel(0),
                    new FrameCodec<>(0x52434631, Kind.class, "is this recv?"),
                    "control",
                    TIMEOUT);
        }

        void greet() {
            assertThat(ask(Frame.of(Kind.HELLO, 1, 1, 0, 4096, 4)).kind()).isEqualTo(Kind.HELLO);
        }

        /// The answer to an offer of a file, after RING.
        Frame<Kind> offer(long number, long size, String name) {
            return offer(number, 0, FILE, size, name);
        }

        Frame<Kind> offer(long number, long folder, long kind, long size, String name) {
            Frame<Kind> answer = ask(toOffer(number, folder, kind, size, name));
            return answer.kind() == Kind.RING ? control.receive() : answer;
        }

        static Frame<Kind> toOffer(long number, long folder, long kind, long size, String name) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            return Frame.of(Kind.OFFER, bytes, number, folder, kind, size, 0644, 0, 0, 0, 0);
        }

        Frame<Kind> ask(Frame<Kind> frame) {
            send(frame);
            return control.receive();
        }

        void send(Frame<Kind> frame) {
            control.send(frame);
        }

        @Override
        public void close() {
            session.close();
        }
    }
}
