package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import org.jspecify.annotations.Nullable;

/// File operations that an interrupt of the calling thread must not end. An interrupt closes the
/// [java.nio.channels.FileChannel] that the thread uses, but it must not fail a post or a registration.
final class Uninterrupted {
    private Uninterrupted() {}

    /// Opens its own channel, so that it can be repeated.
    interface FileOperation<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /// Runs `operation`, and repeats it if it was interrupted. Preserves the thread's interrupt status.
    static <T extends @Nullable Object> T call(FileOperation<T> operation) throws IOException {
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
