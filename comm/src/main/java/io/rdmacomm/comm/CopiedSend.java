package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// A SEND of bytes in memory of the program. They are copied into memory of the channel when this operation is the
/// next to start. If others come first, they are copied to the heap until then.
final class CopiedSend<T extends @Nullable Object> extends PendingOperation<T> {
    private final SendCopies copies;
    private MemorySegment message;
    private @Nullable BufferSlice block;
    private volatile boolean crowded;

    /// @param operation with the length of the message
    /// @param deadline the last moment to start, of [System#nanoTime()]
    /// @param value makes the value of the future from the result
    /// @param message not read after the operation is submitted
    /// @param copies the memory of the channel, already prepared
    CopiedSend(Operation operation, long deadline, LongFunction<T> value, MemorySegment message, SendCopies copies) {
        super(operation, deadline, value);
        this.message = message;
        this.copies = copies;
    }

    @Override
    boolean load() {
        if (block != null) {
            return true;
        }
        BufferSlice room = copies.take();
        crowded = room == null;
        if (room == null) {
            return false;
        }
        boolean loaded = false;
        try {
            long length = message.byteSize();
            MemorySegment.copy(message, 0, room.buffer().segment(), room.offset(), length);
            var _ = operation().memory(room.address(), room.buffer().localKey());
            loaded = true;
        } finally {
            if (!loaded) {
                copies.putBack(room);
            }
        }
        block = room;
        return true;
    }

    @Override
    void unload() {
        BufferSlice room = block;
        block = null;
        if (room != null) {
            copies.putBack(room);
        }
    }

    @Override
    void keep() {
        if (block != null) {
            return;
        }
        message = MemorySegment.ofArray(message.toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    boolean isCrowded() {
        return crowded;
    }

    @Override
    void ended() {
        copies.release();
    }
}
