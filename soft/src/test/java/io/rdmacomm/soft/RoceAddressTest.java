package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Context;
import java.io.IOException;
import java.net.BindException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The contexts of one process at one address, which share its port.
@Timeout(120)
class RoceAddressTest {
    private static final String ADDRESS = "127.0.0.85";
    private static final String DEVICE = "roce5=" + ADDRESS + "?transport=roce";
    private static final int THREADS = 3;
    private static final int ROUNDS = 40;

    @BeforeEach
    void isFree() throws IOException {
        try (RawRoce other = new RawRoce(ADDRESS, ADDRESS)) {
            assertThat(other).isNotNull();
        } catch (BindException e) {
            throw LeftOut.because(getClass(), "UDP port 4791 is taken, most likely by rdma_rxe (rmmod rdma_rxe)");
        }
    }

    private static void openAndClose() {
        for (int i = 0; i < ROUNDS; i++) {
            try (Context context = Soft.open(DEVICE)) {
                assertThat(context.isOpen()).isTrue();
            }
        }
    }

    /// The last one that closes gives the port back, and the next one takes it at the same time.
    @Test
    void contextsAreOpenedWhileOthersAreClosed() {
        List<CompletableFuture<Void>> threads = IntStream.range(0, THREADS)
                .mapToObj(_ -> CompletableFuture.runAsync(
                        RoceAddressTest::openAndClose,
                        task -> Thread.ofPlatform().start(task)))
                .toList();
        threads.forEach(CompletableFuture::join);
    }
}
