package io.rdmacomm.soft.mapped;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/// Random numbers for keys and queue pair numbers. These keep others out, so earlier ones must not help to guess
/// later ones. Reads many at a time from [SecureRandom], which is several times faster. One thread at a time.
final class SecretNumbers {
    private static final int BATCH_BYTES = 1024;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ByteBuffer batch = ByteBuffer.allocate(BATCH_BYTES).limit(0);

    /// The next number.
    int next() {
        if (!batch.hasRemaining()) {
            RANDOM.nextBytes(batch.array());
            batch.clear();
        }
        return batch.getInt();
    }
}
