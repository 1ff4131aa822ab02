package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A completion channel (`struct ibv_comp_channel`): a file that events are read from.
///
/// Each event is acknowledged in C as soon as it is read, so that destroying a completion queue never waits for
/// the program to do so. The program's own count is that of [CompletionQueue#unacknowledged()].
final class IbvCompletionChannel extends CompletionChannel {
    private final LibIbverbs library;
    private final NativeObjects objects;
    private final EventSource source;
    private final long address;
    private final Queue<CompletionQueue> announced = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean wakeUp = new AtomicBoolean();

    private IbvCompletionChannel(IbvContext context, long address) {
        super(context);
        this.library = context.library();
        this.objects = context.objects();
        this.address = address;
        int file =
                NativeMemory.at(address, CompletionLayouts.CHANNEL_BYTES).get(JAVA_INT, CompletionLayouts.CHANNEL_FILE);
        this.source = new EventSource(file, context.device().name());
    }

    /// @param contextAddress the address of the context's struct
    static IbvCompletionChannel create(IbvContext context, long contextAddress) {
        return new IbvCompletionChannel(
                context,
                IbvFailure.address(
                        "create completion channel (ibv_create_comp_channel)",
                        context.library().createChannel(contextAddress),
                        context.toString()));
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    /// Delivers an event that does not come from the device.
    void announce(CompletionQueue queue) {
        announced.add(queue);
        source.wakeUp();
    }

    @Override
    protected @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) throws InterruptedException {
        if (!source.enter()) {
            return null;
        }
        try {
            long deadline = Deadline.after(timeoutNanos);
            while (true) {
                // Before looking: what comes after that ends the wait.
                source.clearWakeUp();
                CompletionQueue queue = take();
                boolean woken = wakeUp.getAndSet(false);
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
        CompletionQueue own = announced.poll();
        if (!announced.isEmpty()) {
            source.wakeUp(); // the next waiter
        }
        if (own != null && own.isOpen()) {
            return own;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(JAVA_LONG);
            MemorySegment userContext = arena.allocate(JAVA_LONG);
            int errno = library.getCompletionEvent(address, queue.address(), userContext.address());
            if (errno == LibCLayout.EAGAIN || errno == LibCLayout.EINTR) {
                return null;
            }
            IbvFailure.check("wait for a completion event (ibv_get_cq_event)", errno, toString());
            long queueAddress = queue.get(JAVA_LONG, 0);
            // Found before it is acknowledged: until then the struct cannot be freed and its address given away.
            CompletionQueue found = objects.find(queueAddress) instanceof CompletionQueue known ? known : null;
            library.acknowledgeCompletionEvents(queueAddress, 1);
            return found;
        }
    }

    @Override
    protected void doWakeUp() {
        wakeUp.set(true);
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
                "destroy completion channel (ibv_destroy_comp_channel)", library.destroyChannel(address), toString());
    }
}
