package io.rdmacomm.tests.lab;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/// Sessions over the kernel's siw, which completes a WRITE before an earlier READ.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs siw0: lab/suite lab")
class SessionOrderTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int BYTES = 1 << 20;
    private static final int ROUNDS = 10;

    @Test
    void aReadEndsBeforeALaterWrite() {
        SessionOptions options = SessionOptions.defaults().withDevice("siw0").withAddress("10.8.0.1", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            RdmaBuffer source = server.allocate("source", BYTES);
            server.accept(TIMEOUT).announce(source, AccessFlag.allRemote());
            RemoteBuffer remote = client.endPoint().peerBuffer("source", TIMEOUT);
            RdmaBuffer target = client.allocate("target", BYTES);
            RdmaBuffer word = client.allocate("word", Long.BYTES);
            RdmaChannel channel = client.endPoint().channel(0);
            for (byte round = 1; round <= ROUNDS; round++) {
                source.segment().fill(round);
                List<String> ended = new CopyOnWriteArrayList<>();
                assertThat(channel.tryRead(target.block(0), remote, 0, noting("READ", target, ended), 0)
                                .isAccepted())
                        .isTrue();
                assertThat(channel.tryWrite(word.block(0), remote, 0, noting("WRITE", target, ended), 0)
                                .isAccepted())
                        .isTrue();
                Deadline.await("both have ended", () -> ended.size() == 2);
                assertThat(ended).containsExactly("READ, last byte " + round, "WRITE, last byte " + round);
            }
        }
    }

    private static CompletionHandler noting(String what, RdmaBuffer target, List<String> ended) {
        return (channel, context, status, result) -> ended.add(
                status == WorkStatus.SUCCESS
                        ? what + ", last byte " + target.segment().get(JAVA_BYTE, BYTES - 1)
                        : what + ": " + status);
    }
}
