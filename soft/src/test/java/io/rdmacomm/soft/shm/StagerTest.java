package io.rdmacomm.soft.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/// One thread works for all queue pairs that need staging.
class StagerTest {
    @Test
    void anErrorOfOneClientDoesNotKeepItFromTheOthers() throws Exception {
        Logger logger = Logger.getLogger(Stager.class.getName());
        logger.setFilter(entry -> false);
        try (ShmDirectory directory = ShmDirectory.claim();
                ControlFile control = ControlFile.create(directory, 1, 2);
                Stager stager = new Stager("stager", directory.lid(), control)) {
            List<Throwable> failures = List.of(
                    new OutOfMemoryError("no"), new StackOverflowError(), new IllegalArgumentException("misaligned"));
            CountDownLatch served = new CountDownLatch(failures.size());
            for (Throwable failure : failures) {
                stager.submit(new OneClient(() -> StagerTest.<RuntimeException>fail(failure)));
                stager.submit(new OneClient(served::countDown));
            }
            assertThat(served.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            logger.setFilter(null);
        }
    }

    /// A client that nobody stops.
    private record OneClient(Runnable staged) implements Stager.Client {
        @Override
        public void runStaged() {
            staged.run();
        }

        @Override
        public boolean isStopped() {
            return false;
        }

        @Override
        public void pause() {
            // It uses no memory.
        }

        @Override
        public int goOn() {
            return Outcome.DONE;
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void fail(Throwable failure) throws E {
        throw (E) failure;
    }
}
