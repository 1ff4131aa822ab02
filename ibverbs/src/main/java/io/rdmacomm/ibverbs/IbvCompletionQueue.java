package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.RdmaException;
import java.lang.foreign.MemorySegment;

/// A completion queue (`struct ibv_cq`). The driver writes completions straight into the caller's memory.
final class IbvCompletionQueue extends CompletionQueue {
    private final IbvContext context;
    private final ContextOps ops;
    private final long address;
    // Not read from the struct each time: a closed queue has a name, too, but no struct.
    private volatile int capacity;

    private IbvCompletionQueue(IbvContext context, long address, CompletionQueueOptions options) {
        super(context, options);
        this.context = context;
        this.ops = context.ops();
        this.address = address;
        this.capacity = readCapacity();
        context.objects().add(address, this);
    }

    /// @param contextAddress the address of the context's struct
    static IbvCompletionQueue create(IbvContext context, long contextAddress, CompletionQueueOptions options) {
        CompletionChannel channel = options.channel();
        long channelAddress = channel == null ? 0 : ((IbvCompletionChannel) channel).address();
        long address = context.library()
                .createCompletionQueue(contextAddress, options.capacity(), channelAddress, options.vector());
        return new IbvCompletionQueue(
                context,
                IbvFailure.address(
                        "create completion queue (ibv_create_cq)",
                        address,
                        options.capacity() + " completions, vector " + options.vector() + " on " + context),
                options);
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    private int readCapacity() {
        return NativeMemory.at(address, CompletionLayouts.QUEUE_BYTES).get(JAVA_INT, CompletionLayouts.QUEUE_CAPACITY);
    }

    @Override
    protected int doPoll(MemorySegment into, int max) {
        into.get(JAVA_INT, 0); // Throws if the memory was freed, which C would not notice.
        int count = ops.poll(address, max, into.address());
        if (count < 0) {
            throw broken(count);
        }
        return count;
    }

    private RdmaException broken(int code) {
        return new RdmaException(
                "poll completion queue (ibv_poll_cq)",
                Errno.EIO,
                this + " is broken (" + code + "); it overran, or its device is gone");
    }

    @Override
    protected void doArm(boolean solicitedOnly) {
        // A device that never solicits would never wake its waiter: there every completion counts.
        boolean only = solicitedOnly && context.supports(Capability.SOLICITED_EVENTS);
        int errno = Math.abs(ops.requestNotify(address, only ? 1 : 0));
        if (errno != 0) { // the name of the queue would be made each time
            throw IbvFailure.of("arm completion queue (ibv_req_notify_cq)", errno, toString());
        }
    }

    @Override
    protected void doAcknowledge(int events) {
        // The channel has acknowledged them when it read them.
    }

    @Override
    protected void doResize(int newCapacity) {
        IbvFailure.check(
                "resize completion queue (ibv_resize_cq)",
                context.library().resizeCompletionQueue(address, newCapacity),
                Capability.RESIZE_COMPLETION_QUEUE,
                context);
        capacity = readCapacity();
    }

    @Override
    protected void doDestroy() {
        context.objects().remove(address);
        IbvFailure.check(
                "destroy completion queue (ibv_destroy_cq)",
                context.library().destroyCompletionQueue(address),
                "completion queue on " + context);
    }
}
