package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.spi.Driver;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// Ensures that a request is answered only once, and rejects a request that is closed unanswered.
final class Answer {
    private final AtomicBoolean given = new AtomicBoolean();
    private final Resource request;

    /// @param request named in messages
    Answer(Resource request) {
        this.request = request;
    }

    /// Records the answer.
    ///
    /// @throws IllegalStateException if it was already answered
    void give() {
        if (!given.compareAndSet(false, true)) {
            throw new IllegalStateException(request + " was already answered");
        }
    }

    /// Closes the request.
    ///
    /// @param reject sends a rejection with private data
    void close(Driver driver, Consumer<byte[]> reject) {
        try {
            if (given.compareAndSet(false, true)) {
                reject.accept(new byte[0]);
            }
        } finally {
            driver.close();
        }
    }
}
