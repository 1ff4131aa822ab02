package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/// A completion channel (`struct ibv_comp_channel`): a file that events are read from.
///
/// Each event is acknowledged in C as soon as it is read, so that destroying a completion queue never waits for the
/// program to do so. The events that the program has not acknowledged are counted by
/// [io.rdmacomm.verbs.CompletionQueue#unacknowledged()].
final class IbvCompletionChannel implements CompletionChannelDriver {
    private final NativeContext device;
    private final EventSource source;
    private final long address;
    private final LongSupplier next = this::take;

    /// Creates the struct (ibv_create_comp_channel(3)).
    IbvCompletionChannel(NativeContext device) {
        this.device = device;
        this.address = IbvFailure.address(
                "create completion channel (ibv_create_comp_channel)",
                device.library().createChannel(device.address()),
                device.toString());
        int file =
                NativeMemory.at(address, CompletionLayouts.CHANNEL_BYTES).get(JAVA_INT, CompletionLayouts.CHANNEL_FILE);
        this.source = new EventSource(file, device.toString());
    }

    @Override
    public long handle() {
        return address;
    }

    @Override
    public long awaitEvent(long timeoutNanos) throws InterruptedException {
        return source.take(timeoutNanos, next);
    }

    /// The queue of the next event; 0 if there is none. Once the event is acknowledged, the queue can be destroyed,
    /// and a new one may get its address. The new one then gets a spurious event, which is harmless.
    private long take() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(JAVA_LONG);
            MemorySegment userContext = arena.allocate(JAVA_LONG);
            int errno = device.library().getCompletionEvent(address, queue.address(), userContext.address());
            if (errno == LibCLayout.EAGAIN || errno == LibCLayout.EINTR) {
                return 0;
            }
            IbvFailure.check("wait for a completion event (ibv_get_cq_event)", errno, toString());
            device.library().acknowledgeCompletionEvents(queue.get(JAVA_LONG, 0), 1);
            return queue.get(JAVA_LONG, 0);
        }
    }

    @Override
    public void wakeUp() {
        source.wakeUp();
    }

    @Override
    public void closing() {
        source.wake();
    }

    @Override
    public void close() {
        source.close();
        IbvFailure.check(
                "destroy completion channel (ibv_destroy_comp_channel)",
                device.library().destroyChannel(address),
                toString());
    }

    @Override
    public String toString() {
        return "completion channel on " + device;
    }
}
