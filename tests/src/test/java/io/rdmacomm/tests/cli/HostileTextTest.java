package io.rdmacomm.tests.cli;

import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Text that others have chosen, with what controls a terminal, in all that is printed: of peers, in arguments, files
/// and variables.
final class HostileTextTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String EVIL = "x\u001b]0;title\u0007\u001b[2J\r\u009b1m\u202e\u2028\u2029y";

    @TempDir
    private Path folder;

    private static void isHarmless(String printed) {
        assertThat(printed).contains("x?]0;title??[2J");
        assertThat(printed.codePoints().filter(c -> c != '\n')).allMatch(c -> switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        });
    }

    /// The first constants of the protocol of send.
    private enum Kind {
        HELLO,
        OFFER,
        ACCEPT,
        REJECT
    }

    @Test
    void theReasonOfAReceiver() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "content");
        FrameCodec<Kind> codec = new FrameCodec<>(0x52434631, Kind.class, "");
        try (ServerSession session =
                ServerSession.listen(SessionOptions.defaults().withAddress("localhost", 0))) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
                try (EndPoint client = session.accept(TIMEOUT);
                        FrameChannel<Kind> control =
                                new FrameChannel<>(session, client.channel(0), codec, "control", TIMEOUT)) {
                    control.receive();
                    control.send(Frame.of(Kind.REJECT, EVIL));
                }
            });

            Result result = Command.run("send", file.toString(), "localhost:" + session.port());

            assertThat(result.exitCode()).isEqualTo(1);
            isHarmless(result.err());
            served.join();
        }
    }

    @Test
    void theReasonOfAPeerThatAborts() {
        SessionOptions options = SessionOptions.defaults().withAddress("localhost", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            EndPoint there = server.accept(TIMEOUT);

            there.abort(7, new RdmaException(EVIL, null));

            Deadline.await("the failure", () -> client.endPoint().failure() != null);
            assertThat(client.endPoint().failure())
                    .satisfies(peer(PeerFailedException.Reason.ABORTED))
                    .satisfies(failure -> isHarmless(failure.getMessage()));
        }
    }

    @Test
    void theNameOfARemoteBuffer() {
        RemoteBuffer buffer = RemoteBuffer.of(EVIL, 1, 2, 3, Set.of());
        isHarmless(buffer.name());
        isHarmless(buffer.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "EVIL",
                "--EVIL",
                "info EVIL",
                "info EVIL -v",
                "bench --EVIL",
                "bench --baseline EVIL",
                "bench --tests EVIL",
                "bench --sizes EVIL",
                "ping EVIL",
                "ping host --work-mode EVIL",
                "mesh --hostfile EVIL",
                "mesh --launcher EVIL",
                "mesh --nodes 2 --job EVIL",
                "devices --json /no/EVIL/file",
                "bench --secret-file EVIL"
            })
    void arguments(String words) {
        String[] arguments = words.split(" ", -1);
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = arguments[i].replace("EVIL", EVIL);
        }

        Result result = Command.run(arguments);

        assertThat(result.exitCode()).isNotZero();
        isHarmless(result.err().replace("\tat ", "at "));
    }

    @Test
    void hostFiles() throws IOException {
        Path hosts =
                Files.write(folder.resolve("hosts"), ("localhost " + EVIL.replace("\r", "") + "\n").getBytes(UTF_8));

        Result result = Command.run("mesh", "--hostfile", hosts.toString());

        assertThat(result.exitCode()).isEqualTo(2);
        isHarmless(result.err());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RANK=EVIL;WORLD_SIZE=2;MASTER_ADDR=localhost;MASTER_PORT=1",
                "OMPI_COMM_WORLD_RANK=0;OMPI_COMM_WORLD_SIZE=1;OMPI_COMM_WORLD_LOCAL_RANK=0;OMPI_MCA_orte_hnp_uri=EVIL",
                "SLURM_PROCID=0;SLURM_NTASKS=1;SLURM_JOB_ID=1;SLURM_STEP_NODELIST=[EVIL",
                "JOB_COMPLETION_INDEX=0;RDMACOMM_SIZE=1;RDMACOMM_SERVICE=s;HOSTNAME=EVIL",
            })
    void variablesOfLaunchers(String variables) throws Exception {
        Map<String, String> environment = new HashMap<>();
        for (String variable : variables.split(";", -1)) {
            String[] both = variable.split("=", 2);
            environment.put(both[0], both[1].replace("EVIL", EVIL.replace(";", ":")));
        }
        try (Command command = Command.start(environment, "mesh")) {
            Result result = command.end();
            assertThat(result.exitCode()).isEqualTo(2);
            isHarmless(result.err().replace("x?]0:", "x?]0;"));
        }
    }
}
