package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.shm.ShmMessage;
import io.rdmacomm.soft.shm.ShmPeer;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.QueuePairState;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Messages on a control connection that no correct process sends: they are ignored, and cost no exception on the
/// thread that all queue pairs depend on.
class HostileMessagesTest {
    private static final int[] NUMBERS = {-1, 0, 0xffff, 0x10000, -0x10000, Integer.MIN_VALUE, Integer.MAX_VALUE};
    private static final long[] WORDS = {-1, 0, 1, 64, -64, 1L << 32, Long.MIN_VALUE, Long.MAX_VALUE};

    private final AddressEnd victim = new AddressEnd();
    private final AddressEnd hostile = new AddressEnd();
    private final Logger logger = Logger.getLogger(Engine.class.getName());
    private final ConcurrentLinkedQueue<LogRecord> said = new ConcurrentLinkedQueue<>();

    @AfterEach
    void close() {
        logger.setFilter(null);
        victim.close();
        hostile.close();
    }

    @Test
    void areIgnored() throws IOException {
        SoftContext theirs = Soft.of(victim.context);
        SoftContext own = Soft.of(hostile.context);
        hostile.pair.connect(victim.pair.info());
        victim.pair.connect(hostile.pair.info());
        logger.setFilter(entry -> {
            said.add(entry);
            return false;
        });
        try (SocketChannel connection = SocketChannel.open(
                UnixDomainSocketAddress.of(ShmDirectory.folder(theirs.lid()).resolve(ShmPeer.SOCKET)))) {
            send(
                    connection,
                    ShmMessage.HELLO,
                    own.lid(),
                    own.queryGid(1, 0).high(),
                    own.queryGid(1, 0).low());
            for (int type = 0; type <= ShmMessage.ESTABLISHED + 2; type++) {
                if (type != ShmMessage.HELLO) {
                    sendAll(connection, type, own.lid());
                }
            }
            victim.receive(1, 64);
            hostile.post(hostile.batch().send(2).with(hostile.region, 0, 8).signaled());
            hostile.succeeded(2);
            victim.succeeded(1);
            // A peer that has served this message has served those before.
            send(connection, ShmMessage.FAULT, victim.pair.number(), AsyncEventType.UNKNOWN.code(), 0);
            victim.await(() -> victim.pair.state() == QueuePairState.ERROR);
            assertThat(said).isEmpty();
        }
    }

    private static void sendAll(SocketChannel connection, int type, int lid) throws IOException {
        for (int number : NUMBERS) {
            for (long word : WORDS) {
                send(connection, type, number, word, word);
                send(connection, type, number, lid, word);
            }
        }
    }

    private static void send(SocketChannel connection, int type, int number, long first, long second)
            throws IOException {
        ByteBuffer message = ByteBuffer.allocate(ShmMessage.BYTES).order(ByteOrder.nativeOrder());
        message.putInt(type).putInt(number).putLong(first).putLong(second).flip();
        while (message.hasRemaining()) {
            connection.write(message);
        }
    }
}
