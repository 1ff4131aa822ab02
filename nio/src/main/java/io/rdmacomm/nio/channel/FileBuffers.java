package io.rdmacomm.nio.channel;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;

/// Buffers for the bytes of files on their way to rsockets. Some are kept for the next file. Thread-safe.
final class FileBuffers {
    /// The default size of the send buffer of an rsocket.
    private static final int BYTES = 1 << 17;

    /// Together 8 MiB. If more threads need buffers at the same time, the garbage collector frees the rest.
    private static final int KEPT = 64;

    private static final ArrayBlockingQueue<ByteBuffer> FREE = new ArrayBlockingQueue<>(KEPT);

    private FileBuffers() {}

    static ByteBuffer take() {
        ByteBuffer free = FREE.poll();
        return free == null ? ByteBuffer.allocateDirect(BYTES) : free;
    }

    static void giveBack(ByteBuffer buffer) {
        var _ = FREE.offer(buffer);
    }
}
