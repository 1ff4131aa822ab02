package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.cm.ConnectedQueuePair;
import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.spi.DriverEvent;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Takes the asynchronous events of a context (ibv_get_async_event(3)).
///
/// Acknowledges each exactly once, as soon as it is read: destroying its object waits in C for this, and must not
/// wait for the program.
final class IbvAsyncEvents {
    private final NativeContext device;
    private final EventSource source;

    IbvAsyncEvents(NativeContext device, EventSource source) {
        this.device = device;
        this.source = source;
    }

    /// The next event, or null on a timeout or when the context is closing.
    @Nullable
    DriverEvent await(long nanos) throws InterruptedException {
        if (!source.enter()) {
            return null;
        }
        try {
            long deadline = Deadline.after(nanos);
            DriverEvent event = take();
            for (long left = nanos; event == null && left > 0; left = Deadline.left(deadline)) {
                if (!source.await(left)) {
                    return null;
                }
                event = take();
            }
            return event;
        } finally {
            source.leave();
        }
    }

    private @Nullable DriverEvent take() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(CompletionLayouts.EVENT_BYTES, 8);
            int errno = device.library().getAsyncEvent(device.address(), struct.address());
            if (errno == LibCLayout.EAGAIN || errno == LibCLayout.EINTR) {
                return null;
            }
            IbvFailure.check("wait for an asynchronous event (ibv_get_async_event)", errno, device.toString());
            AsyncEventType type = AsyncEventType.of(struct.get(JAVA_INT, CompletionLayouts.EVENT_TYPE));
            // Looked up before the event is acknowledged: after that the struct may be freed and its address reused.
            ConnectedQueuePair queuePair =
                    device.queuePairs().at(struct.get(JAVA_LONG, CompletionLayouts.EVENT_ELEMENT));
            device.library().acknowledgeAsyncEvent(struct.address());
            if (queuePair != null && isFailure(type)) {
                queuePair.noticeState();
            }
            return new DriverEvent(type, element(type, struct, queuePair));
        }
    }

    private static long element(AsyncEventType type, MemorySegment struct, @Nullable ConnectedQueuePair queuePair) {
        return switch (type) {
            case QUEUE_PAIR_FATAL,
                    QUEUE_PAIR_REQUEST_ERROR,
                    QUEUE_PAIR_ACCESS_ERROR,
                    COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED,
                    PATH_MIGRATED,
                    PATH_MIGRATION_ERROR,
                    QUEUE_PAIR_LAST_WORK_REACHED ->
                queuePair == null ? 0 : queuePair.number(); // it is being closed; none has the number 0
            case COMPLETION_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_LIMIT_REACHED ->
                struct.get(JAVA_LONG, CompletionLayouts.EVENT_ELEMENT);
            case PORT_ACTIVE,
                    PORT_ERROR,
                    LID_CHANGE,
                    PARTITION_KEY_CHANGE,
                    SUBNET_MANAGER_CHANGE,
                    CLIENT_REREGISTER,
                    GID_CHANGE -> struct.get(JAVA_INT, CompletionLayouts.EVENT_ELEMENT);
            case DEVICE_FATAL, WORK_QUEUE_FATAL, UNKNOWN -> 0;
        };
    }

    /// Whether the event means that a queue pair has failed, or is about to.
    private static boolean isFailure(AsyncEventType type) {
        return type == AsyncEventType.QUEUE_PAIR_FATAL
                || type == AsyncEventType.QUEUE_PAIR_REQUEST_ERROR
                || type == AsyncEventType.QUEUE_PAIR_ACCESS_ERROR;
    }
}
