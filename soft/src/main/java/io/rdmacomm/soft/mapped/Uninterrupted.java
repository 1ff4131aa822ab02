package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/// File operations that an interrupt of the calling thread must not end. A [java.nio.channels.FileChannel] is
/// closed under a thread that is interrupted, and posting or registering is nothing that an interrupt should fail.
final class Uninterrupted {
    private Uninterrupted() {}

    /// What opens its own channel, so that it can be done again.
    interface FileOperation<T> {
        T run() throws IOException;
    }

    /// Runs `operation`, again if it was interrupted; the thread is interrupted afterwards if it was.
    static <T> T call(FileOperation<T> operation) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return operation.run();
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
