package io.rdmacomm.tests.comm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// The program that a newcomer reads first.
final class FirstProgramTest {
    @Test
    void sendsHelloAndWritesIntoANamedBuffer() {
        Duration timeout = Duration.ofSeconds(10);
        SessionOptions options = SessionOptions.defaults().withPort(0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            EndPoint here = server.accept(timeout);
            EndPoint there = client.endPoint();
            RdmaBuffer inbox = server.allocate("inbox", 4096);
            here.announce(inbox, AccessFlag.allRemote());

            RdmaBuffer text = client.allocate("text", 4096);
            text.segment().setString(0, "hello", UTF_8);
            BlockingChannel channel = there.channel(0).blocking(timeout);
            channel.send(text.slice(0, 5));
            try (Message message = here.channel(0).blocking(timeout).receive()) {
                assertThat(message.text()).isEqualTo("hello");
            }
            RemoteBuffer remote = there.peerBuffer("inbox", timeout);
            channel.write(text.slice(0, 6), remote, 100);
            assertThat(inbox.segment().getString(100, UTF_8)).isEqualTo("hello");
            assertThat(channel.fetchAndAdd(remote, 8, 3)).isZero();
            assertThat(channel.fetchAndAdd(remote, 8, 3)).isEqualTo(3);
            assertThat(channel.compareAndSwap(remote, 8, 6, 1)).isEqualTo(6);
        }
    }
}
