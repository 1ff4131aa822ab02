package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How siw ends a connection, in order or not: the software device notices, and flushes what was posted.
class SiwPeerEndTest {
    private static final Duration LONG = AddressEnd.LONG;
    private static final byte[] HELLO = SiwEnds.HELLO;

    @AutoClose
    private final SiwEnds ends = new SiwEnds();

    /// In the RFC's layout and in that of siw.
    @ParameterizedTest
    @ValueSource(strings = {"12 02 00 00", "21 02 03 00"})
    void terminateIsReported(String why) throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        ends.own.receive(2, 10);
        ends.peer.send("0016 4147 00000000 00000002 00000001 00000000" + why + "00000000");
        assertThat(ends.connection.awaitDisconnect(LONG)).isTrue();
        assertThat(ends.connection.disconnectReason()).contains("no receive posted");
        assertThat(ends.own.pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(ends.own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void peerDisconnects() throws Exception {
        ends.calledBySiw(false);
        ends.peer.close();
        assertEnded();
    }

    @Test
    void peerResets() throws Exception {
        ends.calledBySiw(false);
        ends.peer.wire.reset();
        assertEnded();
    }

    @Test
    void peerEndsInsideAFrame() throws Exception {
        ends.calledBySiw(false);
        ends.peer.send(ends.peer.message(1, HELLO).substring(0, 44));
        ends.peer.close();
        assertEnded();
    }

    @Test
    void peerEndsInsideAMessage() throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendPart(1, 0, false, HELLO);
        ends.peer.close();
        assertEnded();
    }

    private void assertEnded() throws InterruptedException {
        assertThat(ends.connection.awaitDisconnect(LONG)).isTrue();
        assertThat(ends.connection.isConnected()).isFalse();
        assertThat(ends.own.pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(ends.own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }
}
