package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Where a server listens, and when it warns that anybody can connect.
@ExtendWith(LeakCheck.class)
final class ListeningTest {
    private static final String ANOTHER_LOOPBACK = "127.0.0.2";
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withPort(0);

    /// Addresses of this host other than the one that `localhost` is.
    private static List<InetAddress> others() throws Exception {
        List<InetAddress> addresses = new ArrayList<>(List.of(InetAddress.ofLiteral(ANOTHER_LOOPBACK)));
        NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
                .forEach(addresses::add);
        return addresses;
    }

    private static void connect(InetAddress address, int port) throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), (int) TIMEOUT.toMillis());
        }
    }

    @Test
    void withoutAHostOnlyThisHostReachesIt() throws Exception {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            for (InetAddress address : others()) {
                assertThatThrownBy(() -> connect(address, server.port()))
                        .as(address.toString())
                        .isInstanceOf(ConnectException.class);
            }
            try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()));
                    EndPoint accepted = server.accept(TIMEOUT)) {
                assertThat(client.endPoint().remoteAddress().isLoopbackAddress())
                        .isTrue();
                assertThat(accepted.remoteAddress().isLoopbackAddress()).isTrue();
            }
        }
    }

    @Test
    void onAllAddressesItIsReachedAtEach() throws Exception {
        SessionOptions all = OPTIONS.withAllAddresses();
        try (ServerSession server = ServerSession.listen(all)) {
            for (InetAddress address : others()) {
                connect(address, server.port());
            }
            SessionOptions there = OPTIONS.withAddress(ANOTHER_LOOPBACK, server.port());
            try (ClientSession _ = ClientSession.connect(all.withPort(server.port()));
                    ClientSession _ = ClientSession.connect(there)) {
                server.accept(TIMEOUT).close();
                server.accept(TIMEOUT).close();
            }
        }
    }

    @Test
    void atAHostItIsReachedOnlyThere() throws Exception {
        try (ServerSession server = ServerSession.listen(OPTIONS.withHost(ANOTHER_LOOPBACK))) {
            connect(InetAddress.ofLiteral(ANOTHER_LOOPBACK), server.port());
            assertThatThrownBy(() -> connect(InetAddress.ofLiteral("127.0.0.1"), server.port()))
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void aMeshListensOnLoopbackOnlyIfItMeetsThere() throws Exception {
        Rendezvous far = Rendezvous.of(0, 1, "node7", 1);
        try (Mesh here = Mesh.join(Rendezvous.of(0, 1, "localhost", 1), SessionOptions.defaults());
                Mesh open = Mesh.join(far, SessionOptions.defaults());
                Mesh bound = Mesh.join(far, SessionOptions.defaults().withHost("127.0.0.1"))) {
            InetAddress other = InetAddress.ofLiteral(ANOTHER_LOOPBACK);
            assertThatThrownBy(() -> connect(other, here.session().port())).isInstanceOf(ConnectException.class);
            connect(other, open.session().port());
            assertThatThrownBy(() -> connect(other, bound.session().port())).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void warnsWhenAnybodyCanConnect() {
        SessionOptions all = OPTIONS.withName("open").withAllAddresses();

        assertThat(warnings(all))
                .singleElement()
                .asString()
                .startsWith("session open listens on port ")
                .contains("of all addresses without a secret and without TLS: anyone who reaches it can connect")
                .contains("withSecret");
        assertThat(warnings(all.withSecret(Secret.of(new byte[16])))).isEmpty();
        assertThat(warnings(OPTIONS)).isEmpty();
        assertThat(warnings(OPTIONS.withHost(ANOTHER_LOOPBACK))).isEmpty();
    }

    private static List<String> warnings(SessionOptions options) {
        try (Warnings warnings = new Warnings();
                ServerSession _ = ServerSession.listen(options)) {
            return warnings.messages();
        }
    }
}
