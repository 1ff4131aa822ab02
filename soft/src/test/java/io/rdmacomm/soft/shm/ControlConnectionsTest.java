package io.rdmacomm.soft.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.Gid;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Messages over the control connections of a context.
class ControlConnectionsTest implements ControlConnections.Receiver {
    private static final int BAD = 100;
    private static final int GOOD = 101;

    private final BlockingQueue<Integer> received = new LinkedBlockingQueue<>();
    private final Logger logger = Logger.getLogger(Engine.class.getName());
    private ShmDirectory directory;
    private Engine engine;
    private Path socket;

    @BeforeEach
    void listen() throws IOException {
        directory = ShmDirectory.claim();
        socket = directory.file(ShmPeer.SOCKET);
        engine = new Engine("engine", () -> Long.MAX_VALUE, () -> {});
        ControlConnections.listen(socket, engine, this);
        engine.start();
        logger.setFilter(entry -> false);
    }

    @AfterEach
    void close() throws IOException {
        logger.setFilter(null);
        engine.close();
        directory.close();
    }

    @Override
    public @Nullable ShmPeer onHello(Gid gid, int lid) {
        received.add(lid);
        return null;
    }

    @Override
    public void onMessage(int type, int number, long first, long second) {
        if (type == BAD) {
            if (number == 0) {
                throw new AssertionError("bad");
            }
            throw new IllegalStateException("bad");
        }
        received.add(number);
    }

    @Override
    public void onEnd(ShmPeer peer) {
        throw new AssertionError("no peer has said hello");
    }

    private int next() throws InterruptedException {
        Integer number = received.poll(10, TimeUnit.SECONDS);
        assertThat(number).isNotNull();
        return number;
    }

    @Test
    void aMessageThatFailsTakesNoOthersWithIt() throws Exception {
        ByteBuffer batch = ByteBuffer.allocate(5 * ShmMessage.BYTES).order(ByteOrder.nativeOrder());
        batch.putInt(ShmMessage.HELLO).putInt(7).putLong(0).putLong(0);
        batch.putInt(BAD).putInt(0).putLong(0).putLong(0);
        batch.putInt(GOOD).putInt(8).putLong(0).putLong(0);
        batch.putInt(BAD).putInt(1).putLong(0).putLong(0);
        batch.putInt(GOOD).putInt(9).putLong(0).putLong(0);
        try (SocketChannel peer = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            peer.write(batch.flip());
            assertThat(next()).isEqualTo(7);
            assertThat(next()).isEqualTo(8);
            assertThat(next()).isEqualTo(9);
        }
    }
}
