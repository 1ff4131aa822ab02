package io.rdmacomm.soft.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SegmentReceiverTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.81.1.1");
    private static final InetAddress THERE = InetAddress.ofLiteral("127.81.1.2");
    private static final InetSocketAddress LOCAL = new InetSocketAddress(HERE, 4791);
    private static final int TIMEOUT_MILLIS = 10_000;

    private DatagramChannel channel;
    private Selector selector;
    private SegmentReceiver receiver;
    private SegmentSocket peer;

    @BeforeEach
    void open() throws IOException {
        channel = DatagramChannel.open(StandardProtocolFamily.INET).bind(LOCAL);
        channel.configureBlocking(false);
        selector = Selector.open();
        channel.register(selector, SelectionKey.OP_READ);
        receiver = SegmentReceiver.open(LOCAL);
        assertThat(receiver).as("these tests run with native access").isNotNull();
        peer = SegmentSocket.open(THERE);
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
        channel.close();
        peer.close();
    }

    private void send(int... lengths) {
        SegmentBatch batch = peer.take();
        for (int bytes : lengths) {
            assertThat(batch.fits(bytes)).isTrue();
            for (int i = 0; i < bytes; i++) {
                batch.buffer().put(batch.end() + i, (byte) (batch.count() + i));
            }
            batch.add(bytes);
        }
        assertThat(batch.send(SocketAddress.bits(HERE))).isZero();
        peer.giveBack(batch);
    }

    /// What the channel's selector announces is what the receiver takes.
    private int receive() throws IOException {
        assertThat(selector.select(TIMEOUT_MILLIS)).as("the packets arrive").isEqualTo(1);
        selector.selectedKeys().clear();
        return receiver.receive();
    }

    private void assertContent(int... lengths) {
        int at = 0;
        for (int number = 0; number < lengths.length; number++) {
            for (int i = 0; i < lengths[number]; i++) {
                assertThat(receiver.buffer().get(at + i)).isEqualTo((byte) (number + i));
            }
            at += lengths[number];
        }
    }

    @Test
    void packetsThatLeftTogetherArriveTogether() throws IOException {
        send(1068, 1068, 1068, 20);

        int received = receive();

        assertThat(received).isEqualTo(3 * 1068 + 20);
        assertThat(receiver.packetBytes(received)).isEqualTo(1068);
        assertThat(receiver.host()).isEqualTo(SocketAddress.bits(THERE));
        assertThat(receiver.port()).isEqualTo(peer.port());
        assertContent(1068, 1068, 1068, 20);
    }

    @Test
    void aPacketThatLeftAloneArrivesAlone() throws IOException {
        send(1068, 1068);
        receive();
        send(60);

        int received = receive();

        assertThat(received).isEqualTo(60);
        assertThat(receiver.packetBytes(received))
                .as("nothing is left of the last call")
                .isEqualTo(60);
        assertContent(60);
    }

    @Test
    void withoutPacketsItDoesNotWait() throws IOException {
        assertThat(receiver.receive()).isNegative();
    }

    @Test
    void anEmptyDatagramIsAPacket() throws IOException {
        try (DatagramChannel other =
                DatagramChannel.open(StandardProtocolFamily.INET).bind(new InetSocketAddress(THERE, 0))) {
            other.send(ByteBuffer.allocate(0), LOCAL);

            assertThat(receive()).isZero();
            assertThat(receiver.packetBytes(0)).isZero();
        }
    }

    @Test
    void aSocketThatCannotBeToldFromAnotherIsLeftToTheJdk() throws IOException {
        InetSocketAddress shared = new InetSocketAddress(InetAddress.ofLiteral("127.81.1.3"), 4791);
        try (DatagramChannel first = DatagramChannel.open(StandardProtocolFamily.INET);
                DatagramChannel second = DatagramChannel.open(StandardProtocolFamily.INET)) {
            first.setOption(StandardSocketOptions.SO_REUSEADDR, true).bind(shared);
            second.setOption(StandardSocketOptions.SO_REUSEADDR, true).bind(shared);

            assertThat(SegmentReceiver.open(shared)).isNull();
        }
        assertThat(SegmentReceiver.open(shared))
                .as("a socket that does not exist")
                .isNull();
    }
}
