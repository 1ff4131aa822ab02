package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A completion queue (`struct ibv_cq`). The driver writes completions straight into the caller's memory. Its events
/// need no acknowledgement: the channel acknowledges them in C when it reads them.
public class IbvCompletionQueue implements CompletionQueueDriver {
    /// Limits the time in C: the JVM cannot stop threads while C polls.
    private static final int AT_A_TIME = 256;

    private final NativeContext device;
    private final ContextOps ops;
    private final long address;
    // A copy: toString() needs it after the struct is gone.
    private volatile int capacity;

    /// Creates the struct (ibv_create_cq(3)).
    ///
    /// @param channel the address of the struct of its completion channel; 0 for none
    /// @throws VerbException the errno of the device
    public IbvCompletionQueue(NativeContext device, int capacity, long channel, int vector) {
        this.device = device;
        this.ops = device.ops();
        this.address = IbvFailure.lockedAddress(
                "create completion queue (ibv_create_cq)",
                device.library().createCompletionQueue(device.address(), capacity, channel, vector),
                capacity + " completions, vector " + vector + " on " + device);
        this.capacity = readCapacity();
    }

    @Override
    public final long handle() {
        return address;
    }

    @Override
    public final int capacity() {
        return capacity;
    }

    private int readCapacity() {
        return NativeMemory.at(address, CompletionLayouts.QUEUE_BYTES).get(JAVA_INT, CompletionLayouts.QUEUE_CAPACITY);
    }

    @Override
    public int poll(MemorySegment into, int max) {
        into.get(JAVA_INT, 0); // throws if the memory was freed, which C would not notice
        long to = into.address();
        int count = take(to, Math.min(max, AT_A_TIME));
        for (int last = count; last == AT_A_TIME && count < max; count += last) {
            last = take(to + (long) count * CompletionLayout.BYTES, Math.min(max - count, AT_A_TIME));
        }
        return count;
    }

    private int take(long to, int max) {
        int count = ops.poll(address, max, to);
        if (count < 0) {
            throw new VerbException(
                    "poll completion queue (ibv_poll_cq)",
                    Errno.EIO,
                    this + " is broken (" + count + "); it overran, or its device is gone");
        }
        return count;
    }

    @Override
    public void arm(boolean solicitedOnly) {
        int errno = Math.abs(ops.requestNotify(address, solicitedOnly ? 1 : 0));
        if (errno != 0) { // only then, because toString() allocates
            throw IbvFailure.of("arm completion queue (ibv_req_notify_cq)", errno, toString());
        }
    }

    @Override
    public final void resize(int newCapacity) {
        IbvFailure.check(
                "resize completion queue (ibv_resize_cq)",
                device.library().resizeCompletionQueue(address, newCapacity),
                Capability.RESIZE_COMPLETION_QUEUE,
                device.toString());
        capacity = readCapacity();
    }

    @Override
    public final void moderate(int completions, int micros) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment change = arena.allocate(CompletionLayouts.CHANGE_BYTES, 8);
            change.set(JAVA_INT, CompletionLayouts.CHANGE_MASK, CompletionLayouts.MASK_MODERATE);
            change.set(JAVA_SHORT, CompletionLayouts.CHANGE_COMPLETIONS, (short) completions);
            change.set(JAVA_SHORT, CompletionLayouts.CHANGE_PERIOD, (short) micros);
            IbvFailure.check(
                    "moderate completion queue (ibv_modify_cq)",
                    device.extendedOps().modifyCompletionQueue(address, change.address()),
                    Capability.COMPLETION_MODERATION,
                    device.toString(),
                    completions + " completions and " + micros + " microseconds for " + this);
        }
    }

    @Override
    public void close() {
        IbvFailure.check(
                "destroy completion queue (ibv_destroy_cq)",
                device.library().destroyCompletionQueue(address),
                "completion queue on " + device);
    }

    @Override
    public final String toString() {
        return "completion queue of " + capacity + " on " + device;
    }
}
