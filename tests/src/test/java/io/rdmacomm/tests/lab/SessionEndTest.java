package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/// The last messages of sessions over the kernel's siw, which completes a SEND when TCP has accepted it and drops a
/// connection when one side closes it.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs siw0: lab/suite lab")
class SessionEndTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withDevice("siw0").withAddress("10.8.0.1", 0);
    private static final int ROUNDS = 10;
    /// More than fit into a send queue.
    private static final int MESSAGES = 400;
    private static final int BYTES = 4000;
    private static final int LONG_BYTES = 4 << 20;

    @Test
    void bothSidesCloseRightAfterTheirLastMessageAndNothingIsLost() {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            RdmaBuffer text = server.allocate("text", BYTES);
            for (int round = 0; round < ROUNDS; round++) {
                AtomicInteger came = new AtomicInteger();
                try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
                    EndPoint there = client.endPoint();
                    EndPoint here = server.accept(TIMEOUT);
                    there.channel(0).onMessage((channel, message) -> count(came, message));
                    here.channel(0).onMessage((channel, message) -> count(came, message));
                    RdmaBuffer own = client.allocate("own", BYTES);
                    CompletableFuture<Void> one = CompletableFuture.runAsync(() -> send(there, own));
                    send(here, text);
                    one.join();
                    CompletableFuture<Void> other = CompletableFuture.runAsync(here::close);
                    there.close();
                    other.join();
                    assertClosedWell(there);
                    assertClosedWell(here);
                }
                assertThat(came).hasValue(2 * MESSAGES);
            }
        }
    }

    /// The driver may be sending a long message when the READ that confirms arrival reaches it.
    @Test
    void barriersWorkWhileBothSidesWrite() {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
                EndPoint there = client.endPoint();
                EndPoint here = server.accept(TIMEOUT);
                CompletableFuture<Void> one = CompletableFuture.runAsync(() -> writeBetweenBarriers(there, client));
                writeBetweenBarriers(here, server);
                one.join();
                assertThat(there.failure()).isNull();
                assertThat(here.failure()).isNull();
                CompletableFuture<Void> other = CompletableFuture.runAsync(here::close);
                there.close();
                other.join();
                assertClosedWell(there);
                assertClosedWell(here);
            }
        }
    }

    /// In every second round the other side writes longer, while this side waits at the barrier.
    private static void writeBetweenBarriers(EndPoint endPoint, Session session) {
        RdmaBuffer source = session.allocate("source", LONG_BYTES);
        RdmaBuffer target = session.allocate("target", LONG_BYTES);
        endPoint.announce(target, AccessFlag.allRemote());
        RemoteBuffer remote = endPoint.peerBuffer("target", TIMEOUT);
        for (int round = 0; round < ROUNDS; round++) {
            source.segment().fill((byte) round);
            endPoint.barrier(TIMEOUT);
            int count = (round & 1) == (session instanceof ServerSession ? 0 : 1) ? 1 : 4;
            for (int i = 0; i < count; i++) {
                endPoint.channel(0).blocking(TIMEOUT).write(source.block(0), remote, 0);
            }
            endPoint.barrier(TIMEOUT);
            assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
        }
    }

    private static void count(AtomicInteger came, Message message) {
        assertThat(message.segment().byteSize()).isEqualTo(BYTES);
        came.incrementAndGet();
    }

    private static void send(EndPoint endPoint, RdmaBuffer text) {
        for (int i = 0; i < MESSAGES; i++) {
            endPoint.channel(0).blocking(TIMEOUT).send(text.block(0));
        }
    }

    private static void assertClosedWell(EndPoint endPoint) {
        assertThat(endPoint.failure()).isNull();
        assertThat(endPoint.state()).isEqualTo(EndPointState.CLOSED);
    }
}
