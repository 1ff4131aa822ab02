package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A queue pair with its resources, among them one buffer for outgoing and one for incoming messages. For one
/// thread.
public final class MessageQueuePair implements AutoCloseable {
    /// The rights of the peer to the memory of this queue pair if it only sends messages: none.
    public static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE);

    private final Arena arena = Arena.ofConfined();
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue completionQueue;
    private final QueuePair queuePair;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;

    /// Creates a queue pair that is not connected.
    ///
    /// @param sends the number of requests in flight
    /// @param receives the number of posted receives
    /// @param messageBytes the size of the buffer for outgoing messages
    /// @param headerBytes how much larger the one for incoming messages is
    MessageQueuePair(Context context, QueuePairType type, int sends, int receives, int messageBytes, int headerBytes) {
        this(
                context,
                type,
                new QueueSizes(sends, receives, 1, 1, 0),
                messageBytes,
                (long) headerBytes + messageBytes,
                ACCESS);
    }

    /// Creates a queue pair that is not connected.
    ///
    /// @param access to the buffer for incoming messages
    public MessageQueuePair(
            Context context,
            QueuePairType type,
            QueueSizes sizes,
            long outgoingBytes,
            long incomingBytes,
            Set<AccessFlag> access) {
        CompletionChannel events = null;
        CompletionQueue completions = null;
        boolean complete = false;
        this.domain = context.allocateProtectionDomain();
        try {
            events = context.createCompletionChannel();
            completions =
                    context.createCompletionQueue(CompletionQueueOptions.ofCapacity(sizes.sends() + sizes.receives())
                            .withChannel(events));
            this.queuePair = domain.createQueuePair(
                    QueuePairOptions.reliable(completions).withType(type).withSizes(sizes));
            this.outgoing = domain.allocate(outgoingBytes, Set.of());
            this.incoming = domain.allocate(incomingBytes, access);
            complete = true;
        } finally {
            if (!complete) {
                free(domain, completions, events, arena);
            }
        }
        this.channel = events;
        this.completionQueue = completions;
    }

    /// Holds the requests and completions of the queue pair.
    public Arena arena() {
        return arena;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    public CompletionQueue completionQueue() {
        return completionQueue;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    public MemoryRegion outgoing() {
        return outgoing;
    }

    public MemoryRegion incoming() {
        return incoming;
    }

    @Override
    public void close() {
        free(domain, completionQueue, channel, arena);
    }

    private static void free(
            ProtectionDomain domain,
            @Nullable CompletionQueue completions,
            @Nullable CompletionChannel events,
            Arena arena) {
        try {
            domain.close();
            if (completions != null) {
                completions.close();
            }
            if (events != null) {
                events.close();
            }
        } finally {
            arena.close();
        }
    }
}
