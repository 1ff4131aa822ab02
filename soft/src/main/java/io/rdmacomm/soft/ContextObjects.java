package io.rdmacomm.soft;

import io.rdmacomm.soft.datagram.DatagramPort;
import io.rdmacomm.soft.mapped.QueuePairNumbers;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.shm.SharedMemory;
import io.rdmacomm.soft.tcp.TcpEndpoint;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The queue pairs, completion queues and shared receive queues of a context, for those who know them by number: peers
/// on this host and callers on the network.
final class ContextObjects implements SharedMemory.Events {
    private final SoftContext context;
    private final QueuePairNumbers numbers = new QueuePairNumbers();
    private final AtomicInteger others = new AtomicInteger();
    private final Set<ContextQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    private final Map<Integer, SoftCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Map<Integer, SoftSharedReceiveQueue> sharedQueues = new ConcurrentHashMap<>();
    private final Quarantine quarantine = new Quarantine();

    ContextObjects(SoftContext context) {
        this.context = context;
    }

    /// Numbers for queue pairs.
    QueuePairNumbers numbers() {
        return numbers;
    }

    /// A number for anything else.
    int nextNumber() {
        return others.incrementAndGet();
    }

    void add(ContextQueuePair queuePair) {
        queuePairs.add(queuePair);
    }

    void remove(ContextQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    void add(int number, SoftCompletionQueue queue) {
        completionQueues.put(number, queue);
    }

    void add(int number, SoftSharedReceiveQueue queue) {
        sharedQueues.put(number, queue);
    }

    /// Forgets the completion queue or shared receive queue with this number.
    void remove(int number) {
        completionQueues.remove(number);
        sharedQueues.remove(number);
    }

    /// How a caller reaches the queue pair with this number, or null.
    @Nullable
    TcpEndpoint endpoint(int number) {
        return context.queuePair(number) instanceof SoftQueuePair queuePair ? queuePair.tcp() : null;
    }

    /// Where a datagram for the queue pair with this number goes, or null.
    DatagramPort.@Nullable Target datagramTarget(int number) {
        return context.queuePair(number) instanceof SoftDatagramQueuePair queuePair ? queuePair : null;
    }

    /// The memory that stopped peers may still write to.
    Quarantine quarantine() {
        return quarantine;
    }

    /// Waits until no operation that began before may still be using `region`, whose keys are not valid any more. It
    /// waits for a stopped peer that may, but once, and for all of them together.
    ///
    /// @param region null for any memory of this context
    /// @return false if a peer still may be using it, or another place that was given up
    boolean quiesce(@Nullable LocalRegion region) {
        context.sharedMemory().awaitCopiesForPeers();
        List<PeerOperation> ofPeers = new ArrayList<>();
        for (ContextQueuePair queuePair : queuePairs) {
            queuePair.awaitExecutions();
            PeerOperation operation = queuePair.operationOfPeer(region);
            if (operation != null) {
                ofPeers.add(operation);
            }
        }
        boolean idle = PeerOperation.awaitAll(ofPeers);
        return quarantine.look() && idle;
    }

    /// Nobody notices any more what peers do: fails all queue pairs, whose work would never end.
    void deviceFailed() {
        // First, so that a queue pair that connects meanwhile either sees it or is failed below.
        context.fail();
        context.asyncEvents().raise(AsyncEventType.DEVICE_FATAL, null);
        for (ContextQueuePair queuePair : queuePairs) {
            try {
                queuePair.failLocally(AsyncEventType.QUEUE_PAIR_FATAL);
            } catch (RuntimeException | Error e) {
                context.engine().report(e);
            }
        }
    }

    @Override
    public void onHello(Gid gid, int lid) {
        for (ContextQueuePair queuePair : queuePairs) {
            queuePair.peerAppeared(gid, lid);
        }
    }

    @Override
    public void onCompletion(int completionQueue) {
        SoftCompletionQueue queue = completionQueues.get(completionQueue);
        if (queue != null) {
            queue.announce();
        }
    }

    @Override
    public void onOverrun(int completionQueue) {
        SoftCompletionQueue queue = completionQueues.get(completionQueue);
        if (queue == null) {
            return;
        }
        queue.overrunTold();
        context.asyncEvents().raise(AsyncEventType.COMPLETION_QUEUE_ERROR, queue);
        for (ContextQueuePair queuePair : queuePairs) {
            if (queuePair.completesIn(queue)) {
                queuePair.failLocally(AsyncEventType.QUEUE_PAIR_FATAL);
            }
        }
        queue.announce();
    }

    @Override
    public void onLimit(int sharedReceiveQueue) {
        SoftSharedReceiveQueue queue = sharedQueues.get(sharedReceiveQueue);
        if (queue != null) {
            queue.told();
            context.asyncEvents().raise(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, queue);
        }
    }

    @Override
    public void onEstablished(int number) {
        if (context.queuePair(number) instanceof SoftQueuePair queuePair) {
            context.asyncEvents().raise(AsyncEventType.COMMUNICATION_ESTABLISHED, queuePair);
        }
    }

    @Override
    public void onFault(int number, AsyncEventType event) {
        if (context.queuePair(number) instanceof SoftQueuePair queuePair) {
            queuePair.failLocally(event);
        }
    }

    /// A peer changes shared memory first, and then tells of it. This is what it could not tell.
    @Override
    public void onPeerParted() {
        completionQueues.forEach((number, queue) -> {
            if (queue.isOverrunUntold()) {
                onOverrun(number);
            }
            queue.announceToWaiter();
        });
        sharedQueues.forEach((number, queue) -> {
            if (queue.isUntold()) {
                onLimit(number);
            }
        });
    }

    @Override
    public void onPeerDied(int lid) {
        for (SoftCompletionQueue queue : completionQueues.values()) {
            if (queue.ring().skipClaims(lid)) {
                queue.announceToWaiter();
            }
        }
        // They may use its memory, which is about to be unmapped.
        queuePairs.forEach(ContextQueuePair::awaitExecutions);
        quarantine.look();
    }
}
