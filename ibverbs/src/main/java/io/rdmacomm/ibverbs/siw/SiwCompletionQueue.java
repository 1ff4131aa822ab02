package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.objects.IbvCompletionQueue;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/// A completion queue of siw. It removes the completions of closed queue pairs, which siw leaves in it.
final class SiwCompletionQueue extends IbvCompletionQueue {
    private static final long EACH = CompletionLayout.BYTES;

    private final Map<Long, SiwCompletionQueue> open;
    private final OperationLock lock = new OperationLock();
    /// Completions that were polled to remove others; they come before those of the device.
    private MemorySegment kept = MemorySegment.NULL;

    /// @param open the open queues of the device by their handles, to which it adds itself
    SiwCompletionQueue(
            NativeContext device, int capacity, long channel, int vector, Map<Long, SiwCompletionQueue> open) {
        super(device, capacity, channel, vector);
        this.open = open;
        open.put(handle(), this);
    }

    @Override
    public int poll(MemorySegment into, int max) {
        lock.lock();
        try {
            return kept.byteSize() == 0 ? super.poll(into, max) : pollKept(into, max);
        } finally {
            lock.unlock();
        }
    }

    private int pollKept(MemorySegment into, int max) {
        long bytes = Math.min(kept.byteSize(), max * EACH);
        MemorySegment.copy(kept, 0, into, 0, bytes);
        kept = kept.asSlice(bytes);
        int count = (int) (bytes / EACH);
        return count == max ? max : count + super.poll(into.asSlice(bytes), max - count);
    }

    /// Arms for every completion: siw drops the solicited flag of a message, so an arm for solicited completions
    /// only would never fire.
    @Override
    public void arm(boolean solicitedOnly) {
        super.arm(false);
    }

    /// Removes the completions of a destroyed queue pair.
    void removeCompletionsOf(int queuePairNumber) {
        lock.lock();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(kept.byteSize() + capacity() * EACH, Long.BYTES);
            int count = poll(all, (int) (all.byteSize() / EACH));
            int left = 0;
            for (int i = 0; i < count; i++) {
                if (all.get(JAVA_INT, i * EACH + CompletionLayout.QUEUE_PAIR_NUMBER) != queuePairNumber) {
                    MemorySegment.copy(all, i * EACH, all, left++ * EACH, EACH);
                }
            }
            kept = MemorySegment.ofArray(all.asSlice(0, left * EACH).toArray(JAVA_LONG));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        open.remove(handle());
        super.close();
    }
}
