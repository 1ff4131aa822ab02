package io.rdmacomm.soft.mapped;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/// Numbers that cannot be guessed from earlier ones, as parts of keys and queue pair numbers must be: they keep
/// others out. Taken from [SecureRandom] many at a time, which is several times faster. One thread at a time.
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
