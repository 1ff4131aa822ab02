package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Rdma;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// A client of the exchange of addresses that names a queue pair of another host: nobody calls there.
class ForeignAddressTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");

    @Test
    void isNotCalled() throws Exception {
        PingPongSettings settings = new PingPongSettings(
                QueuePairType.RELIABLE_CONNECTED,
                64,
                1,
                1,
                ConnectionOptions.defaults(),
                false,
                Duration.ofSeconds(30));
        try (Context context = Rdma.open("soft0");
                InteropServer server = PingPongServer.listen(context, settings, new InetSocketAddress(HERE, 0));
                Socket client = new Socket(HERE, server.port())) {
            client.getOutputStream()
                    .write(new PingPongAddress(20_000, 17, 4711, Gid.of(InetAddress.ofLiteral("192.0.2.1"))).encode());

            assertThatThrownBy(() -> server.runOnce(line -> {}))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("192.0.2.1", "127.0.0.1");
        }
    }
}
