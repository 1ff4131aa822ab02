package io.rdmacomm.soft.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SegmentSocketTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.81.0.1");
    private static final InetAddress THERE = InetAddress.ofLiteral("127.81.0.2");
    private static final int PORT = 4791;
    private static final int TIMEOUT_MILLIS = 10_000;

    private SegmentSocket socket;
    private DatagramChannel peer;

    @BeforeEach
    void open() throws IOException {
        socket = SegmentSocket.open(HERE);
        assertThat(socket).as("these tests run with native access").isNotNull();
        peer = DatagramChannel.open().bind(new InetSocketAddress(THERE, PORT));
        peer.socket().setSoTimeout(TIMEOUT_MILLIS);
    }

    @AfterEach
    void close() throws IOException {
        socket.close();
        peer.close();
    }

    private static void add(SegmentBatch batch, int bytes) {
        assertThat(batch.fits(bytes)).isTrue();
        for (int i = 0; i < bytes; i++) {
            batch.buffer().put(batch.end() + i, (byte) (batch.count() + i));
        }
        batch.add(bytes);
    }

    private int send(SegmentBatch batch) {
        return batch.send(ByteBuffer.wrap(THERE.getAddress()).getInt());
    }

    private List<Integer> receive(int count) throws IOException {
        List<Integer> lengths = new ArrayList<>();
        ByteBuffer into = ByteBuffer.allocate(70_000);
        for (int number = 0; number < count; number++) {
            InetSocketAddress from = (InetSocketAddress) peer.receive(into.clear());
            assertThat(from).isEqualTo(new InetSocketAddress(HERE, socket.port()));
            for (int i = 0; i < into.position(); i++) {
                assertThat(into.get(i)).isEqualTo((byte) (number + i));
            }
            lengths.add(into.position());
        }
        return lengths;
    }

    @Test
    void packetsOfOneLengthAndAShorterOneLeaveTogether() throws IOException {
        SegmentBatch batch = socket.take();
        for (int bytes : new int[] {1068, 1068, 1068, 20}) {
            add(batch, bytes);
        }
        assertThat(batch.fits(16)).as("behind a shorter one").isFalse();

        assertThat(send(batch)).isZero();

        assertThat(receive(4)).containsExactly(1068, 1068, 1068, 20);
        socket.giveBack(batch);
    }

    @Test
    void onePacketLeavesAlone() throws IOException {
        SegmentBatch batch = socket.take();
        add(batch, 4132);
        assertThat(batch.fits(4136)).as("a longer one").isFalse();

        assertThat(send(batch)).isZero();

        assertThat(receive(1)).containsExactly(4132);
        batch.clear();
        add(batch, 60);
        assertThat(send(batch)).isZero();
        assertThat(receive(1)).containsExactly(60);
        socket.giveBack(batch);
    }

    @Test
    void aBatchHasAsManyPacketsAsADatagramHasRoomFor() throws IOException {
        SegmentBatch batch = socket.take();
        while (batch.fits(4132)) {
            add(batch, 4132);
        }
        assertThat(batch.count()).isEqualTo(15);
        assertThat(send(batch)).isZero();
        assertThat(receive(15)).hasSize(15).containsOnly(4132);
        batch.clear();
        while (batch.fits(20)) {
            add(batch, 20);
        }
        assertThat(batch.count()).isEqualTo(64);
        assertThat(send(batch)).isZero();
        assertThat(receive(64)).hasSize(64).containsOnly(20);
        socket.giveBack(batch);
    }

    @Test
    void thereAreAFewBatchesForAllThreads() {
        List<SegmentBatch> all = new ArrayList<>();
        for (SegmentBatch batch = socket.take(); batch != null; batch = socket.take()) {
            all.add(batch);
        }
        assertThat(all).hasSize(8).doesNotHaveDuplicates();
        socket.giveBack(all.getLast());
        assertThat(socket.take()).isEqualTo(all.getLast());
        all.forEach(socket::giveBack);
    }
}
