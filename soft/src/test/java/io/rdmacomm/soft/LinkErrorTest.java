package io.rdmacomm.soft;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/// An Error in the handler of a TCP link ends that link. The engine serves the others.
class LinkErrorTest {
    private static final String SETTINGS = "soft0=127.0.0.1?sharedMemory=false";

    @Test
    void costsOneConnection() {
        // A logger without a reference is collected, with its settings.
        Logger logger = Logger.getLogger("io.rdmacomm.soft.tcp.LinkEnd");
        ConcurrentLinkedQueue<Error> errors = new ConcurrentLinkedQueue<>(
                List.of(new AssertionError("no"), new OutOfMemoryError("no"), new StackOverflowError("no")));
        logger.setLevel(Level.FINE);
        try (AddressEnd end = new AddressEnd(SETTINGS);
                AddressEnd peer = new AddressEnd(SETTINGS)) {
            logger.setFilter(entry -> {
                Error error = entry.getMessage().contains("closed by the peer") ? errors.poll() : null;
                if (error != null) {
                    throw error;
                }
                return false;
            });
            while (!errors.isEmpty()) {
                int left = errors.size();
                write(end, peer);
                peer.pair.close();
                end.awaitWithoutPolling(() -> errors.size() < left);
                end.renew();
                peer.renew();
            }
            write(end, peer);
        } finally {
            logger.setFilter(null);
            logger.setLevel(null);
        }
    }

    private static void write(AddressEnd end, AddressEnd peer) {
        end.pair.connect(peer.pair.info());
        peer.pair.connect(end.pair.info());
        end.post(end.batch()
                .write(1, peer.region.remote())
                .with(end.region, 0, 8)
                .signaled());
        end.succeeded(1);
    }
}
