package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.OtherDevices;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Selectors whose connections go over TCP, as between hosts.
@ExtendWith(LeakCheck.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class NetworkSelectorTest {
    private static final int MESSAGES = 2_000;

    /// Each thread sleeps at the sockets of its own connections. With another thread between the event and the one that
    /// waits, a thread would wait for that other thread instead: about once for each message.
    @Test
    void threadsWaitForTheirOwnSocketsAndNotForEachOther() throws Exception {
        try (OtherDevices _ = OtherDevices.of("own0=127.0.0.1?sharedMemory=false");
                RdmaSelectorProvider provider = RdmaSelectorProvider.of("own0", "*");
                Selector echoing = provider.openSelector()) {
            List<FutureTask<Long>> tasks = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Pair pair = Pair.connect(provider);
                pair.server().configureBlocking(false);
                pair.server().register(echoing, SelectionKey.OP_READ, pair);
                tasks.add(new FutureTask<>(() -> waits(provider, pair)));
            }
            for (FutureTask<Long> task : tasks) {
                Thread.ofPlatform().daemon().start(task);
            }
            while (!tasks.stream().allMatch(FutureTask::isDone)) {
                echoing.select(NetworkSelectorTest::echo, 100);
            }
            for (FutureTask<Long> task : tasks) {
                assertThat(task.get()).isLessThan(MESSAGES / 4);
            }
        }
    }

    private static void echo(SelectionKey key) {
        SocketChannel channel = (SocketChannel) key.channel();
        ByteBuffer bytes = ByteBuffer.allocate(100);
        try {
            if (channel.read(bytes) < 0) {
                channel.close();
            } else {
                channel.write(bytes.flip());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Exchanges messages, and closes the connection.
    ///
    /// @return how often this thread has waited for another one
    private static long waits(RdmaSelectorProvider provider, Pair pair) throws IOException {
        try (SocketChannel channel = pair.client();
                Selector selector = provider.openSelector()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            ByteBuffer number = ByteBuffer.allocate(Integer.BYTES);
            long before = waited();
            for (int i = 0; i < MESSAGES; i++) {
                channel.write(number.clear().putInt(i).flip());
                number.clear();
                while (number.hasRemaining()) {
                    assertThat(selector.select(10_000)).isEqualTo(1);
                    selector.selectedKeys().clear();
                    channel.read(number);
                }
                assertThat(number.getInt(0)).isEqualTo(i);
            }
            return waited() - before;
        }
    }

    private static long waited() {
        return ManagementFactory.getThreadMXBean()
                .getThreadInfo(Thread.currentThread().threadId())
                .getWaitedCount();
    }
}
