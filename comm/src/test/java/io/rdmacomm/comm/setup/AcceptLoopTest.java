package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// All clients depend on one thread.
@Timeout(60)
class AcceptLoopTest {
    private static final String LAST = "last";

    private final BlockingQueue<Object> arriving = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> ended = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> welcomed = new LinkedBlockingQueue<>();

    private @Nullable String next() throws IOException {
        try {
            Object next = arriving.take();
            if (next instanceof IOException e) {
                throw e;
            }
            if (next instanceof Error e) {
                throw e;
            }
            return next.equals(LAST) ? null : (String) next;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void welcome(String client) {
        if (client.startsWith("bad")) {
            throw new OutOfMemoryError("no thread for " + client);
        }
        welcomed.add(client);
    }

    @Test
    void whateverGoesWrongCostsOneClient() throws Exception {
        Logger logger = Logger.getLogger(AcceptLoop.class.getPackageName());
        logger.setFilter(entry -> false);
        try {
            arriving.addAll(List.of(new IOException("too many open files"), "one", "bad", "two"));
            arriving.addAll(List.of(new StackOverflowError(), new AssertionError(), "three", LAST));
            AcceptLoop<String> loop = new AcceptLoop<>("accept", this::next, this::welcome, () -> ended.add(true));
            loop.start();
            for (String client : List.of("one", "two", "three")) {
                assertThat(welcomed.poll(30, TimeUnit.SECONDS)).isEqualTo(client);
            }
            loop.join();
            assertThat(ended).hasSize(1);
        } finally {
            logger.setFilter(null);
        }
    }
}
