package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A completion queue (`struct ibv_cq`). The driver writes completions straight into the caller's memory.
public class IbvCompletionQueue extends CompletionQueue {
    /// The JVM cannot stop threads while C polls, so it must not take long.
    private static final int AT_A_TIME = 256;

    private final NativeContext device;
    private final ContextOps ops;
    private final long address;
    // A copy: toString() needs it after the struct is gone.
    private volatile int capacity;

    /// Creates the struct, too.
    ///
    /// @throws VerbException the errno of the device
    public IbvCompletionQueue(NativeContext device, Context context, CompletionQueueOptions options) {
        super(context, options);
        this.device = device;
        this.ops = device.ops();
        CompletionChannel channel = options.channel();
        long channelAddress = channel == null ? 0 : ((IbvCompletionChannel) channel).address();
        this.address = IbvFailure.lockedAddress(
                "create completion queue (ibv_create_cq)",
                device.library()
                        .createCompletionQueue(device.address(), options.capacity(), channelAddress, options.vector()),
                options.capacity() + " completions, vector " + options.vector() + " on " + context);
        this.capacity = readCapacity();
        device.add(address, this);
    }

    /// The address of the struct.
    final long address() {
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
    protected int doPoll(MemorySegment into, int max) {
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
    protected void doArm(boolean solicitedOnly) {
        int errno = Math.abs(ops.requestNotify(address, solicitedOnly ? 1 : 0));
        if (errno != 0) { // only then, because toString() allocates
            throw IbvFailure.of("arm completion queue (ibv_req_notify_cq)", errno, toString());
        }
    }

    @Override
    protected final void doAcknowledge(int events) {
        // The channel acknowledged them when it read them.
    }

    @Override
    protected final void doResize(int newCapacity) {
        IbvFailure.check(
                "resize completion queue (ibv_resize_cq)",
                device.library().resizeCompletionQueue(address, newCapacity),
                Capability.RESIZE_COMPLETION_QUEUE,
                context());
        capacity = readCapacity();
    }

    @Override
    protected final void doModerate(int completions, int micros) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment change = arena.allocate(CompletionLayouts.CHANGE_BYTES, 8);
            change.set(JAVA_INT, CompletionLayouts.CHANGE_MASK, CompletionLayouts.MASK_MODERATE);
            change.set(JAVA_SHORT, CompletionLayouts.CHANGE_COMPLETIONS, (short) completions);
            change.set(JAVA_SHORT, CompletionLayouts.CHANGE_PERIOD, (short) micros);
            IbvFailure.check(
                    "moderate completion queue (ibv_modify_cq)",
                    device.extendedOps().modifyCompletionQueue(address, change.address()),
                    Capability.COMPLETION_MODERATION,
                    context(),
                    completions + " completions and " + micros + " microseconds for " + this);
        }
    }

    @Override
    protected final void doDestroy() {
        device.remove(address);
        IbvFailure.check(
                "destroy completion queue (ibv_destroy_cq)",
                device.library().destroyCompletionQueue(address),
                "completion queue on " + context());
    }
}
