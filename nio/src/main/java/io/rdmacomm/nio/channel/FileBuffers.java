package io.rdmacomm.nio.channel;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Buffers for the bytes of files on their way to rsockets; as many as threads have needed at the same time.
/// Thread-safe.
final class FileBuffers {
    /// The default size of the send buffer of an rsocket.
    private static final int BYTES = 1 << 17;

    private static final ConcurrentLinkedQueue<ByteBuffer> FREE = new ConcurrentLinkedQueue<>();

    private FileBuffers() {}

    static ByteBuffer take() {
        ByteBuffer free = FREE.poll();
        return free == null ? ByteBuffer.allocateDirect(BYTES) : free;
    }

    static void giveBack(ByteBuffer buffer) {
        FREE.add(buffer);
    }
}
