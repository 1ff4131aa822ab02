package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Context;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A completion channel (`struct ibv_comp_channel`): a file that events are read from.
///
/// Each event is acknowledged in C as soon as it is read, so that destroying a completion queue never waits for the
/// program to do so. The events that the program has not acknowledged are counted by
/// [CompletionQueue#unacknowledged()].
final class IbvCompletionChannel extends CompletionChannel {
    private final NativeContext device;
    private final EventSource source;
    private final long address;

    IbvCompletionChannel(NativeContext device, Context context) {
        super(context);
        this.device = device;
        this.address = IbvFailure.address(
                "create completion channel (ibv_create_comp_channel)",
                device.library().createChannel(device.address()),
                context.toString());
        int file =
                NativeMemory.at(address, CompletionLayouts.CHANNEL_BYTES).get(JAVA_INT, CompletionLayouts.CHANNEL_FILE);
        this.source = new EventSource(file, context.device().name());
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    @Override
    protected @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) throws InterruptedException {
        if (!source.enter()) {
            return null;
        }
        try {
            long deadline = Deadline.after(timeoutNanos);
            while (true) {
                CompletionQueue queue = take();
                boolean woken = source.clearWakeUp();
                long left = Deadline.left(deadline);
                if (queue != null || woken || left <= 0 || !source.await(left)) {
                    return queue;
                }
            }
        } finally {
            source.leave();
        }
    }

    /// The queue of the next event; null when there is none, or its queue is being closed.
    private @Nullable CompletionQueue take() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(JAVA_LONG);
            MemorySegment userContext = arena.allocate(JAVA_LONG);
            int errno = device.library().getCompletionEvent(address, queue.address(), userContext.address());
            if (errno == LibCLayout.EAGAIN || errno == LibCLayout.EINTR) {
                return null;
            }
            IbvFailure.check("wait for a completion event (ibv_get_cq_event)", errno, toString());
            long queueAddress = queue.get(JAVA_LONG, 0);
            // Looked up before the event is acknowledged: after that the struct may be freed and its address reused.
            CompletionQueue found = device.find(queueAddress) instanceof CompletionQueue known ? known : null;
            device.library().acknowledgeCompletionEvents(queueAddress, 1);
            return found;
        }
    }

    @Override
    protected void doWakeUp() {
        source.wakeUp();
    }

    @Override
    protected void onClosing() {
        source.wake();
    }

    @Override
    protected void doClose() {
        source.close();
        IbvFailure.check(
                "destroy completion channel (ibv_destroy_comp_channel)",
                device.library().destroyChannel(address),
                toString());
    }
}
