package io.rdmacomm.cli.rig;

import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One end of a connection: a queue pair with its completion queue and its memory, one region for outgoing and one
/// for incoming data. Programs that measure, check or talk to C programs are loops on such an end. Closing it frees
/// everything.
public final class VerbsEnd implements AutoCloseable {
    /// The rights to the memory of an end that only receives messages: none for the peer.
    public static final Set<AccessFlag> MESSAGES = EnumSet.of(AccessFlag.LOCAL_WRITE);

    /// The queue key of the C programs.
    private static final int QUEUE_KEY = 0x1111_1111;
    /// Longer than most steps of a peer that does not sleep.
    private static final long SPIN_NANOS = 100_000;

    private final Arena arena = Arena.ofShared();
    private final boolean datagrams;
    private final CompletionChannel channel;
    private final CompletionQueue completionQueue;
    private final ProtectionDomain domain;
    private final QueuePair queuePair;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;
    private @Nullable AddressHandle peer;
    private int peerNumber;

    /// Creates an end that is not connected.
    ///
    /// @param completions the size of a completion queue that the sends are meant to overrun; 0 for one that holds
    ///     all work in flight
    /// @param access the rights to the region for incoming data
    public VerbsEnd(
            Context context,
            QueuePairType type,
            QueueSizes sizes,
            int completions,
            long outgoingBytes,
            long incomingBytes,
            Set<AccessFlag> access) {
        this.datagrams = type == QueuePairType.UNRELIABLE_DATAGRAM;
        this.channel = OnFailure.run(arena::close, context::createCompletionChannel);
        CompletionQueueOptions options = CompletionQueueOptions.ofCapacity(
                        completions == 0 ? sizes.sends() + sizes.receives() : completions)
                .withChannel(channel);
        this.completionQueue = OnFailure.run(() -> free(channel), () -> context.createCompletionQueue(options));
        this.domain = OnFailure.run(() -> free(completionQueue, channel), context::allocateProtectionDomain);
        // The queue may be larger than requested.
        QueueSizes fitting =
                completions == 0 ? sizes : sizes.withDepth(completionQueue.capacity() + 1, sizes.receives());
        this.queuePair = OnFailure.run(
                this::close,
                () -> domain.createQueuePair(QueuePairOptions.reliable(completionQueue)
                        .withType(type)
                        .withSizes(fitting)));
        this.outgoing = allocate(outgoingBytes, Set.of());
        this.incoming = allocate(incomingBytes, access);
    }

    /// Registers more memory. Closes the end if that fails.
    public MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
        return OnFailure.run(this::close, () -> domain.allocate(bytes, access));
    }

    /// Holds the requests and completions of the end.
    public Arena arena() {
        return arena;
    }

    public CompletionQueue completionQueue() {
        return completionQueue;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    /// The memory for outgoing data, to which peers have no right.
    public MemoryRegion outgoing() {
        return outgoing;
    }

    /// The memory for incoming data.
    public MemoryRegion incoming() {
        return incoming;
    }

    /// Connects the queue pair by numbers. A datagram queue pair sends to the peer with these numbers.
    ///
    /// @param postReceives runs as soon as receives can be posted, before the peer can send
    public void connect(QueuePairInfo remote, ConnectionOptions how, Runnable postReceives) {
        if (datagrams) {
            peer = domain.createAddressHandle(remote, how.path()); // closed with the protection domain
            peerNumber = remote.number();
            queuePair.initialize(DatagramOptions.ofKey(QUEUE_KEY).withPath(how.path()));
            postReceives.run();
            queuePair.startDatagrams();
        } else {
            queuePair.initialize(how);
            postReceives.run();
            queuePair.readyToReceive(remote, how);
            queuePair.readyToSend(how);
        }
    }

    /// Addresses the last request of the batch to the peer, if it is a datagram.
    public void address(SendBatch batch) {
        AddressHandle handle = peer;
        if (handle != null) {
            batch.to(handle, peerNumber, QUEUE_KEY);
        }
    }

    /// Takes completions. Spins for a moment, and then sleeps until some arrive.
    ///
    /// @param deadline as of [System#nanoTime()]
    /// @return how many; 0 if none arrived in time
    public int await(Completions completions, long deadline) {
        long spinEnd = System.nanoTime() + SPIN_NANOS;
        int count = completionQueue.poll(completions);
        while (count == 0 && System.nanoTime() - spinEnd < 0) {
            Thread.onSpinWait();
            count = completionQueue.poll(completions);
        }
        for (long left = deadline - System.nanoTime(); count == 0 && left > 0; left = deadline - System.nanoTime()) {
            count = completionQueue.await(completions, Duration.ofNanos(left));
        }
        return count;
    }

    /// Closes the queue pair, the memory and the completion queue, but not the arena, because a thread in a call
    /// may still use the batches.
    public void shut() {
        domain.close();
        completionQueue.close();
    }

    @Override
    public void close() {
        free(domain, completionQueue, channel);
    }

    private void free(Resource... resources) {
        try {
            for (Resource resource : resources) {
                resource.close();
            }
        } finally {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }

    @Override
    public String toString() {
        return queuePair.toString();
    }
}
