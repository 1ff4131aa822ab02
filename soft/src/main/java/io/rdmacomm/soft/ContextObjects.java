package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.QueuePairNumbers;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.shm.SharedMemory;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The objects of a context by number: for peers on this host, for callers on the network, and for other objects,
/// which may hold only a wrapper of the driver here.
final class ContextObjects implements SharedMemory.Events {
    private final SoftContext context;
    private final QueuePairNumbers numbers = new QueuePairNumbers();
    private final AtomicInteger others = new AtomicInteger();
    private final QueuePairTable queuePairs = new QueuePairTable();
    private final Map<Integer, SoftCompletionChannel> channels = new ConcurrentHashMap<>();
    private final Map<Integer, SoftCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Map<Integer, SoftSharedReceiveQueue> sharedQueues = new ConcurrentHashMap<>();
    private final PendingFrees pendingFrees = new PendingFrees();

    ContextObjects(SoftContext context) {
        this.context = context;
    }

    /// Numbers for queue pairs.
    QueuePairNumbers numbers() {
        return numbers;
    }

    /// A number for any other object.
    int nextNumber() {
        return others.incrementAndGet();
    }

    void add(ContextQueuePair queuePair) {
        queuePairs.add(queuePair);
    }

    void remove(ContextQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    void add(int number, SoftCompletionChannel channel) {
        channels.put(number, channel);
    }

    void add(int number, SoftCompletionQueue queue) {
        completionQueues.put(number, queue);
    }

    void add(int number, SoftSharedReceiveQueue queue) {
        sharedQueues.put(number, queue);
    }

    /// Removes the object with this number, other than a queue pair.
    void remove(int number) {
        channels.remove(number);
        completionQueues.remove(number);
        sharedQueues.remove(number);
    }

    /// The channel behind `driver`.
    ///
    /// @throws IllegalStateException if it was closed meanwhile
    SoftCompletionChannel channel(CompletionChannelDriver driver) {
        return open(driver, channels.get((int) driver.handle()));
    }

    /// The completion queue behind `driver`.
    ///
    /// @throws IllegalStateException if it was closed meanwhile
    SoftCompletionQueue completionQueue(CompletionQueueDriver driver) {
        return open(driver, completionQueues.get((int) driver.handle()));
    }

    /// The shared receive queue behind `driver`.
    ///
    /// @throws IllegalStateException if it was closed meanwhile
    SoftSharedReceiveQueue sharedQueue(SharedReceiveQueueDriver driver) {
        return open(driver, sharedQueues.get((int) driver.handle()));
    }

    private static <T> T open(Driver driver, @Nullable T found) {
        if (found == null) {
            throw new IllegalStateException(driver + " is closed");
        }
        return found;
    }

    /// The connection setup of the connected queue pair with this number, or null.
    @Nullable
    ConnectionSetup setup(int number) {
        ContextQueuePair queuePair = queuePairs.find(number);
        return queuePair == null ? null : queuePair.setup();
    }

    /// The receiver of datagrams for the queue pair with this number, or null.
    IncomingDatagram.@Nullable Target datagramTarget(int number) {
        ContextQueuePair queuePair = queuePairs.find(number);
        return queuePair == null ? null : queuePair.datagrams();
    }

    /// The memory that stopped peers may still write to.
    PendingFrees pendingFrees() {
        return pendingFrees;
    }

    /// Waits until no earlier operation can still use `region`, whose keys are no longer valid. Waits only once for
    /// a stopped peer that may use it, and for all such peers together.
    ///
    /// @param region null for any memory of this context
    /// @return false if a peer may still be using it, or other memory that was given up
    boolean quiesce(@Nullable LocalRegion region) {
        context.network().awaitCopiesForPeers();
        List<PeerOperation> ofPeers = new ArrayList<>();
        queuePairs.forEach(queuePair -> {
            queuePair.awaitExecutions();
            PeerOperation operation = queuePair.operationOfPeer(region);
            if (operation != null) {
                ofPeers.add(operation);
            }
        });
        boolean idle = PeerOperation.awaitAll(ofPeers);
        return pendingFrees.freeReleased() && idle;
    }

    /// Moves the payloads of messages that have arrived, but were not polled, to a region that is about to be
    /// deregistered. Polls find it unregistered afterwards.
    void placeArrived(LocalRegion region) {
        List<ContextQueuePair> placing = new ArrayList<>();
        queuePairs.forEach(queuePair -> {
            if (queuePair.mayPlaceInto(region)) {
                queuePair.endPlainReceives();
                placing.add(queuePair);
            }
        });
        if (!placing.isEmpty()) {
            var _ = quiesce(region);
            placing.forEach(queuePair -> queuePair.placeInto(region));
        }
    }

    /// Fails all queue pairs: this process no longer notices its peers, so their work would never end.
    void deviceFailed() {
        // First, so that a queue pair that connects meanwhile either sees this or is failed below.
        context.fail();
        context.asyncEvents().raise(AsyncEventType.DEVICE_FATAL, 0);
        forEachQueuePair(queuePair -> queuePair.failLocally(AsyncEventType.QUEUE_PAIR_FATAL));
    }

    /// If one action fails, the other queue pairs are still informed.
    private void forEachQueuePair(Consumer<ContextQueuePair> action) {
        queuePairs.forEach(queuePair -> attempt(() -> action.accept(queuePair)));
    }

    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            context.engine().report(e);
        }
    }

    @Override
    public void onHello(Gid gid, int lid) {
        forEachQueuePair(queuePair -> queuePair.peerAppeared(gid, lid));
    }

    @Override
    public void onCompletion(int completionQueue) {
        SoftCompletionQueue queue = completionQueues.get(completionQueue);
        if (queue != null) {
            queue.announceIfDisarmed();
        }
    }

    @Override
    public void onBell(long bell) {
        context.bells().rung(bell);
    }

    @Override
    public void onOverrun(int completionQueue) {
        SoftCompletionQueue queue = completionQueues.get(completionQueue);
        if (queue == null) {
            return;
        }
        queue.overrunReported();
        context.asyncEvents().raise(AsyncEventType.COMPLETION_QUEUE_ERROR, completionQueue);
        forEachQueuePair(queuePair -> {
            if (queuePair.completesIn(completionQueue)) {
                queuePair.failLocally(AsyncEventType.QUEUE_PAIR_FATAL);
            }
        });
        queue.announce();
    }

    @Override
    public void onLimit(int sharedReceiveQueue) {
        SoftSharedReceiveQueue queue = sharedQueues.get(sharedReceiveQueue);
        if (queue != null) {
            queue.limitReported();
            context.asyncEvents().raise(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, sharedReceiveQueue);
        }
    }

    @Override
    public void onEstablished(int number) {
        if (setup(number) != null) {
            context.asyncEvents().raise(AsyncEventType.COMMUNICATION_ESTABLISHED, number);
        }
    }

    @Override
    public void onFault(int number, AsyncEventType event) {
        ContextQueuePair queuePair = queuePairs.find(number);
        // Peers on this host cannot fail a queue pair for datagrams: it is not connected.
        if (queuePair != null && queuePair.setup() != null) {
            queuePair.failLocally(event);
        }
    }

    /// Finds changes that a peer could not report: it changes shared memory first, and then reports it.
    @Override
    public void onPeerParted() {
        completionQueues.forEach((number, queue) -> attempt(() -> {
            if (queue.isOverrunUnreported()) {
                onOverrun(number);
            }
            queue.announceToWaiter();
        }));
        sharedQueues.forEach((number, queue) -> attempt(() -> {
            if (queue.isLimitUnreported()) {
                onLimit(number);
            }
        }));
    }

    @Override
    public void onPeerDied(int lid) {
        for (SoftCompletionQueue queue : completionQueues.values()) {
            attempt(() -> {
                if (queue.ring().skipClaims(lid)) {
                    queue.announceToWaiter();
                }
            });
        }
        // The queue pairs may be using the peer's memory, which is about to be unmapped.
        forEachQueuePair(ContextQueuePair::awaitExecutions);
        pendingFrees.freeReleased();
    }
}
