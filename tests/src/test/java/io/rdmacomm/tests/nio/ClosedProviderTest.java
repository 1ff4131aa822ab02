package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// A provider whose device is closed below its channels.
@ExtendWith(LeakCheck.class)
class ClosedProviderTest {
    private static final int SHORT_MILLIS = 50;
    private static final int TIMEOUT_SECONDS = 30;

    private static ByteBuffer one() {
        return ByteBuffer.allocate(1);
    }

    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES)
    @SuppressWarnings("try") // the provider is closed early
    void aCloseEndsWhatThreadsWaitFor() throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                Pair pair = Pair.connect(provider);
                Pair selectable = Pair.connect(provider);
                Selector selector = provider.openSelector()) {
            selectable.client().configureBlocking(false);
            selectable.client().register(selector, SelectionKey.OP_READ);
            FutureTask<Integer> reading = new FutureTask<>(() -> pair.client().read(one()));
            FutureTask<Integer> selecting = new FutureTask<>(selector::select);
            Thread.ofPlatform().daemon().start(reading);
            Thread.ofPlatform().daemon().start(selecting);
            Thread.sleep(SHORT_MILLIS);
            provider.close();
            assertThatThrownBy(() -> reading.get(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(IOException.class);
            assertThat(selecting.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEqualTo(1);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> selectable.client().read(one()));
            assertThatExceptionOfType(SocketException.class)
                    .isThrownBy(() -> Sockets.listen(provider))
                    .withMessageContaining("closed");
        }
    }
}
