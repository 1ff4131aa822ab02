package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.OtherDevices;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The receive ring of a connection grows while the writer fills it and the reader empties it.
@ExtendWith(LeakCheck.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class RingGrowthTest {
    private static final String MEMORY = "io.rdmacomm.nio.memory";
    private static final int SMALL = 1 << 17;
    private static final int LARGE = 1 << 20;
    /// More than it takes to grow.
    private static final int ROUNDS = 10;

    /// A ring counts as full after so many writes without success, a millisecond apart: no event tells that.
    private int patience = 2;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private byte nextWritten;
    private byte nextRead;

    @AfterEach
    void clear() {
        System.clearProperty(MEMORY);
    }

    private ByteBuffer bytes(int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count);
        while (bytes.hasRemaining()) {
            bytes.put(nextWritten++);
        }
        return bytes.flip();
    }

    /// Writes until the peer has no room. Over TCP the bytes need a moment to leave.
    ///
    /// @return the number of bytes
    private int fill(SocketChannel writer) throws Exception {
        int total = 0;
        int idle = 0;
        ByteBuffer source = bytes(1 + random.nextInt(1 << 17));
        while (idle < patience) {
            int written = writer.write(source);
            total += written;
            idle = written == 0 ? idle + 1 : 0;
            if (!source.hasRemaining()) {
                source = bytes(1 + random.nextInt(1 << 17));
            } else if (written == 0) {
                Thread.sleep(1);
            }
        }
        nextWritten -= (byte) source.remaining();
        return total;
    }

    private void drain(SocketChannel reader, int count) throws IOException {
        int left = count;
        while (left > 0) {
            ByteBuffer target = ByteBuffer.allocateDirect(Math.min(left, 1 + random.nextInt(1 << 17)));
            left -= reader.read(target);
            target.flip();
            while (target.hasRemaining()) {
                assertThat(target.get())
                        .as("a byte of the stream, seed %s", seed)
                        .isEqualTo(nextRead++);
            }
        }
    }

    /// @return how much fits at last
    private int fillAndDrain(Pair pair) throws Exception {
        pair.client().configureBlocking(false);
        int filled = 0;
        for (int i = 0; i < ROUNDS; i++) {
            filled = fill(pair.client());
            drain(pair.server(), filled);
        }
        return filled;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?sharedMemory=false", "?sharedMemory=false&checksum=true"})
    void aRingThatIsFilledAndEmptiedGrowsAndKeepsTheBytes(String options) throws Exception {
        patience = options.isEmpty() ? patience : 20;
        try (OtherDevices _ = OtherDevices.of("soft0=127.0.0.1" + options);
                RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                Pair pair = Pair.connect(provider)) {
            pair.client().configureBlocking(false);
            int first = fill(pair.client());
            assertThat(first).isBetween(SMALL - 1, 2 * SMALL);
            drain(pair.server(), first);
            assertThat(fillAndDrain(pair)).isGreaterThanOrEqualTo(LARGE);
        }
    }

    @Test
    void aRingThatIsNeverEmptyStaysSmall() throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                Pair pair = Pair.connect(provider)) {
            pair.client().configureBlocking(false);
            int unread = fill(pair.client());
            for (int i = 0; i < 2 * ROUNDS; i++) {
                drain(pair.server(), unread - 1);
                unread = 1 + fill(pair.client());
                assertThat(unread).isLessThanOrEqualTo(SMALL);
            }
        }
    }

    @Test
    void aSizeThatTheProgramHasSetStays() throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                ServerSocketChannel listening = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            listening.setOption(StandardSocketOptions.SO_RCVBUF, SMALL).bind(Sockets.anyPort());
            client.connect(listening.getLocalAddress());
            try (Pair pair = new Pair(client, listening.accept())) {
                assertThat(fillAndDrain(pair)).isEqualTo(SMALL);
            }
        }
    }

    /// Half of the limit is for new connections.
    @Test
    void aRingStaysSmallWithoutMemory() throws Exception {
        System.setProperty(MEMORY, "" + 2 * LARGE);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                Pair pair = Pair.connect(provider)) {
            assertThat(fillAndDrain(pair)).isEqualTo(SMALL);
        }
    }

    @Test
    void aConnectionGivesItsLargerRingBack() throws Exception {
        // The rings of two connections, not of three, besides what each connection has.
        System.setProperty(MEMORY, "" + 6 * LARGE);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*")) {
            for (int i = 0; i < 10; i++) {
                int filled = 0;
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                while (filled != LARGE) {
                    assertThat(System.nanoTime() - end)
                            .as("the memory of closed connections comes back")
                            .isNegative();
                    try (Pair pair = Pair.connect(provider)) {
                        filled = fillAndDrain(pair);
                    }
                }
            }
        }
    }
}
