package io.rdmacomm.ibverbs.siw;

import io.rdmacomm.ibverbs.objects.KernelDriver;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/// siw as of Linux 6.1 and libsiw as of rdma-core 44. The names in backquotes are functions there.
public final class SiwDriver extends KernelDriver {
    private static final Set<Capability> MISSING = Set.of(
            // siw_activate_tx_from_sq() rejects it once it is its turn: the connection ends, or the queue stalls.
            Capability.FENCED_READ,
            // siw_try_1seg() gets the end of a page wrong; the peer of a siw device is most likely siw, too.
            Capability.SHORT_READ_ACROSS_PAGES,
            // siw_check_sgl_tx() skips an empty element, but siw_tx_hdt() looks up its memory: the kernel crashes.
            Capability.EMPTY_ELEMENTS,
            // siw_connect() and siw_create_listen() ignore `tos`.
            Capability.CONNECTION_TYPE_OF_SERVICE,
            // siw_qp_nextstate_from_rts() does nothing, so the peer could continue, and ERROR is final.
            Capability.RESET,
            Capability.RESIZE_COMPLETION_QUEUE,
            Capability.REREGISTER_MEMORY,
            // The CPU copies all data, in order.
            Capability.RELAXED_ORDERING,
            // The solicited flag of a message is dropped at the receiver.
            Capability.SOLICITED_EVENTS,
            // siw_rq_flush() flushes a taken receive, but reports nothing.
            Capability.LAST_WORK_EVENT,
            // Other requests can overtake READs.
            Capability.ORDERED_COMPLETIONS,
            // siw_sq_flush() runs once, when the connection ends or the state becomes ERROR; later requests stay.
            Capability.FLUSH_IN_ERROR);
    /// siw first accepts a connection and then starts listening for messages (`siw_accept`): a message that arrives
    /// in between stays in its socket until another one comes. The peer of a siw device is most likely siw, too.
    private static final long CONNECT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final SiwPlaceholder placeholder = new SiwPlaceholder();
    private final Map<Long, SiwCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    /// Held while the kernel assigns numbers to queue pairs and takes them back.
    private final Object numbers = new Object();

    /// A driver for one open device.
    public SiwDriver() {
        super(false);
    }

    @Override
    protected Set<Capability> missing() {
        return MISSING;
    }

    @Override
    protected long connectPauseNanos() {
        return CONNECT_PAUSE_NANOS;
    }

    @Override
    protected CompletionQueueDriver createCompletionQueue(
            NativeContext device, int capacity, long channel, int vector) {
        placeholder.occupy(device);
        return new SiwCompletionQueue(device, capacity, channel, vector, completionQueues);
    }

    @Override
    protected SharedReceiveQueueDriver createSharedReceiveQueue(
            NativeContext device, long domain, SharedReceiveQueueOptions options) {
        placeholder.occupy(device);
        return super.createSharedReceiveQueue(device, domain, options);
    }

    /// Waits for queue pairs that are being destroyed: the kernel may give their numbers to this one before
    /// [SiwQueuePair#close()] has removed their completions.
    @Override
    protected QueuePairDriver createQueuePair(NativeContext device, long domain, QueuePairRequest request) {
        List<SiwCompletionQueue> completions =
                List.of(find(request.sendCompletions()), find(request.receiveCompletions()));
        synchronized (numbers) {
            return new SiwQueuePair(device, domain, request, completions, numbers);
        }
    }

    private SiwCompletionQueue find(CompletionQueueDriver queue) {
        SiwCompletionQueue found = completionQueues.get(queue.handle());
        if (found == null) {
            throw new IllegalStateException(queue + " is closed");
        }
        return found;
    }

    @Override
    protected void release(NativeContext device) {
        placeholder.release(device);
    }
}
