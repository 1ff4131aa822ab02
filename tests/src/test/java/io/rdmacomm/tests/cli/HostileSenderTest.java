package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SessionOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A sender that does not keep to the rules: what `recv` does about it.
class HostileSenderTest {
    private static final int MAGIC = 0x52434631;
    private static final int HELLO = 1;
    private static final int OFFER = 2;
    private static final int ACCEPT = 3;
    private static final int REFUSE = 4;
    private static final int END = 5;
    private static final int FAILED = 8;
    private static final int DATA = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    private Path root;

    @Test
    void noNameLeadsOutOfTheFolder() throws Exception {
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
                "a/../../b");
        try (Command receiver =
                Command.start("recv", "--dir", target.toString(), "--port", "0", "--bind", "127.0.0.1", "--once")) {
            try (Talk talk = new Talk(receiver.port())) {
                talk.greet();
                for (String name : names) {
                    Frame answer = talk.ask(new Frame(OFFER, List.of(1L, 0L, 0644L, 0L, 0L), name));

                    assertThat(answer.kind()).as(name).isEqualTo(REFUSE);
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
    void aSizeThatIsWrongOrAChecksumThatIsWrongLeavesNothing() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        try (Command receiver =
                Command.start("recv", "--dir", target.toString(), "--port", "0", "--bind", "127.0.0.1", "--once")) {
            try (Talk talk = new Talk(receiver.port())) {
                talk.greet();
                assertThat(talk.ask(new Frame(OFFER, List.of(1L, -1L, 0644L, 0L, 0L), "negative"))
                                .kind())
                        .isEqualTo(REFUSE);
                talk.ask(new Frame(OFFER, List.of(2L, 100L, 0644L, 0L, 0L), "short"));
                assertThat(talk.ask(new Frame(END, List.of(2L, 0L), "")).kind()).isEqualTo(FAILED);
                talk.ask(new Frame(OFFER, List.of(3L, 0L, 0644L, 0L, 0L), "checksum"));
                assertThat(talk.ask(new Frame(END, List.of(3L, 4711L), "")).kind())
                        .isEqualTo(FAILED);
            }
            assertThat(receiver.end().exitCode()).isEqualTo(1);
        }
        assertThat(contents(target)).isEmpty();
    }

    @Test
    void nonsenseEndsThatSenderOnly() throws Exception {
        Path target = Files.createDirectories(root.resolve("target"));
        Path file = Files.writeString(root.resolve("file"), "content");
        try (Command receiver =
                Command.start("recv", "--dir", target.toString(), "--port", "0", "--bind", "127.0.0.1")) {
            String port = receiver.port();
            try (Talk talk = new Talk(port)) {
                talk.greet();
                talk.say(new Frame(4711, List.of(), "nonsense"));
            }
            for (List<Long> bogus :
                    List.of(List.of(4L, 10L), List.of(-1L, 10L), List.of(0L, 4097L), List.of(0L, -1L), List.of(0L))) {
                try (Talk talk = new Talk(port)) {
                    talk.greet();
                    assertThat(talk.ask(new Frame(OFFER, List.of(1L, 100L, 0644L, 0L, 0L), "bogus"))
                                    .kind())
                            .isEqualTo(ACCEPT);
                    talk.say(new Frame(DATA, bogus, ""));
                }
            }
            try (Talk talk = new Talk(port)) {
                talk.say(new Frame(HELLO, List.of(2L, 1L << 40, 1L << 40), ""));
                assertThat(talk.hear().kind()).isEqualTo(REFUSE);
            }
            assertThat(Command.run("send", file.toString(), "localhost:" + port).exitCode())
                    .isZero();
            receiver.interrupt();
            receiver.end();
        }
        assertThat(contents(target)).containsExactly("file");
    }

    private static List<String> contents(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /// A connection that speaks the file copy's frames, right or wrong.
    private static final class Talk implements AutoCloseable {
        private final ClientSession session;
        private final RdmaChannel channel;
        private final RdmaBuffer buffer;

        Talk(String port) {
            session = ClientSession.connect(SessionOptions.defaults().withAddress("127.0.0.1", Integer.parseInt(port)));
            channel = session.endPoint().channel(0);
            buffer = session.allocate("talk", Frame.MAX_BYTES, 1);
        }

        void greet() {
            assertThat(ask(new Frame(HELLO, List.of(2L, 4096L, 4L), "")).kind()).isEqualTo(HELLO);
        }

        Frame ask(Frame frame) {
            say(frame);
            return hear();
        }

        void say(Frame frame) {
            int length = frame.write(buffer.segment(), MAGIC);
            channel.blocking(PATIENCE).send(buffer.slice(0, length));
        }

        Frame hear() {
            try (Message message = channel.blocking(PATIENCE).receive()) {
                return Frame.read(message.segment(), MAGIC).orElseThrow();
            }
        }

        @Override
        public void close() {
            session.close();
        }
    }
}
