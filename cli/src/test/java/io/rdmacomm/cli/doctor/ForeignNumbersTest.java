package io.rdmacomm.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RemoteMemory;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A peer that names queue pairs of other hosts, or ports at which no device listens: nobody calls there.
class ForeignNumbersTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static QueuePairInfo numbers(String address, int port) {
        return new QueuePairInfo(17, 4711, port, Gid.of(InetAddress.ofLiteral(address)), PathMtu.MTU_1024);
    }

    /// It once called whatever address its client named, one port for each request.
    @ParameterizedTest
    @CsvSource({"192.0.2.1, 20000", "127.0.0.1, 22"})
    void aServerOfChecksDoesNotCallThem(String address, int port) {
        StringWriter log = new StringWriter();
        try (SelfTestServer server =
                new SelfTestServer(OPTIONS, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "doctor"))) {
            Thread.ofVirtual().start(server::run);
            try (ClientSession client =
                    ClientSession.connect(OPTIONS.withPort(server.port()).withName(RemotePeer.NAME))) {
                FrameChannel<SelfTestMessage> control =
                        SelfTestMessage.over(client, client.endPoint(), RemotePeer.NAME);
                control.send(SelfTestMessage.open(EndPlan.usual()));
                control.expect(SelfTestMessage.OPENED, SelfTestMessage.FAILED);
                control.send(SelfTestMessage.connect(numbers(address, port)));

                Frame<SelfTestMessage> answer = control.receive();
                assertThat(answer.kind()).isEqualTo(SelfTestMessage.FAILED);
                assertThat(answer.text()).contains("queue pairs at " + address + " port " + port);
            }
        }
    }

    @Test
    void aServerDoesNotSendItsClientThere() throws InterruptedException {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            Thread hostile = Thread.ofVirtual().start(() -> nameForeignNumbers(server));
            try (RemotePeer peer = RemotePeer.connect(OPTIONS.withPort(server.port()))) {
                assertThatThrownBy(() -> peer.open(EndPlan.usual()))
                        .isInstanceOf(RdmaException.class)
                        .hasMessageContaining("queue pairs at 192.0.2.1 port 20000");
            }
            hostile.join();
        }
    }

    private static void nameForeignNumbers(ServerSession server) {
        EndPoint client = server.accept(TIMEOUT);
        FrameChannel<SelfTestMessage> control = SelfTestMessage.over(server, client, "control");
        control.expect(SelfTestMessage.OPEN, SelfTestMessage.FAILED);
        RemoteMemory none = new RemoteMemory(4096, 4096, 1);
        control.send(SelfTestMessage.opened(new PeerEnd.Offer(numbers("192.0.2.1", 20_000), null, none, none)));
        client.awaitPeerDone(TIMEOUT);
    }
}
