package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A completion queue (`struct ibv_cq`). The driver writes completions straight into the caller's memory.
final class IbvCompletionQueue extends CompletionQueue {
    private final IbvContext context;
    private final ContextOps ops;
    private final long address;
    private final @Nullable LateFlush lateFlush;
    // Not read from the struct each time: a closed queue has a name, too, but no struct.
    private volatile int capacity;

    private IbvCompletionQueue(IbvContext context, long address, CompletionQueueOptions options) {
        super(context, options);
        this.context = context;
        this.ops = context.ops();
        this.address = address;
        this.lateFlush = context.leavesRequests() ? new LateFlush(this) : null;
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
        return lateFlush == null ? pollDevice(into, 0, max) : lateFlush.poll(into, max);
    }

    /// Polls the device for up to `max` completions, which go behind the first `kept`.
    int pollDevice(MemorySegment into, int kept, int max) {
        int count = ops.poll(address, max, into.address() + (long) kept * CompletionLayout.BYTES);
        if (count < 0) {
            throw broken(count);
        }
        return count;
    }

    /// The queue pair that has this number now; null if there is none.
    @Nullable
    IbvQueuePair queuePair(int number) {
        return findQueuePair(number) instanceof IbvQueuePair queuePair ? queuePair : null;
    }

    /// What ends the requests that the device leaves; null where it leaves none.
    @Nullable
    LateFlush lateFlush() {
        return lateFlush;
    }

    /// Delivers an event that does not come from the device.
    void announce() {
        if (channel() instanceof IbvCompletionChannel events) {
            events.announce(this);
        }
    }

    private VerbException broken(int code) {
        return new VerbException(
                "poll completion queue (ibv_poll_cq)",
                Errno.EIO,
                this + " is broken (" + code + "); it overran, or its device is gone");
    }

    @Override
    protected void doArm(boolean solicitedOnly) {
        if (lateFlush != null) {
            lateFlush.arm();
        }
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
