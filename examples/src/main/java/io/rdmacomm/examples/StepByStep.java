package io.rdmacomm.examples;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;

/// One side of [RdmaCmStringCopy]: a queue pair that does one thing after another, and waits for each. It has
/// everything that a program on plain verbs needs: create, post, wait without missing a completion, and close.
final class StepByStep implements AutoCloseable {
    /// A description of memory has 16 bytes: its address, length and key, in network byte order.
    private static final long DESCRIPTION = 16;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private final Arena arena = Arena.ofShared();
    private final SendBatch request = SendBatch.create(arena, 1, 1);
    private final ReceiveBatch receive = ReceiveBatch.create(arena, 1, 1);
    private final Completions completions = Completions.create(arena, 1);
    private final Duration timeout;
    private final CompletionQueue sent;
    private final CompletionQueue received;
    private final ProtectionDomain domain;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;
    private final QueuePair queuePair;

    StepByStep(Context context, Duration timeout) {
        this.timeout = timeout;
        sent = queue(context);
        received = queue(context);
        domain = context.allocateProtectionDomain();
        // Peers have no access to the memory of messages.
        outgoing = domain.allocate(DESCRIPTION, EnumSet.noneOf(AccessFlag.class));
        incoming = domain.allocate(DESCRIPTION, EnumSet.of(AccessFlag.LOCAL_WRITE));
        queuePair = domain.createQueuePair(QueuePairOptions.reliable(sent).withReceiveCompletions(received));
    }

    /// A queue with its own channel, for [CompletionQueue#await]. Closing the context closes the channel.
    private static CompletionQueue queue(Context context) {
        CompletionChannel channel = context.createCompletionChannel();
        return context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(16).withChannel(channel));
    }

    ProtectionDomain domain() {
        return domain;
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /// Posts a receive for the next message from the peer. Without it, the message would be rejected or retried.
    void postReceive() {
        queuePair.post(receive.clear().receive(0).with(incoming, 0, DESCRIPTION));
    }

    void sendDescription(RemoteMemory memory) throws InterruptedException {
        outgoing.segment().set(LONG, 0, memory.address());
        outgoing.segment().set(INT, 8, (int) memory.length());
        outgoing.segment().set(INT, 12, memory.key());
        execute(request.clear().send(0).with(outgoing, 0, DESCRIPTION));
    }

    RemoteMemory awaitDescription() throws InterruptedException {
        await(received);
        if (completions.byteLength(0) != DESCRIPTION) {
            throw new IllegalStateException("the peer has sent " + completions.byteLength(0) + " bytes");
        }
        return new RemoteMemory(
                incoming.segment().get(LONG, 0),
                incoming.segment().get(INT, 8),
                incoming.segment().get(INT, 12));
    }

    void write(MemoryRegion from, RemoteMemory to) throws InterruptedException {
        execute(request.clear().write(0, to).with(from, 0, from.length()));
    }

    void read(MemoryRegion into, RemoteMemory from) throws InterruptedException {
        execute(request.clear().read(0, from).with(into, 0, into.length()));
    }

    private void execute(SendBatch batch) throws InterruptedException {
        queuePair.post(batch.signaled());
        await(sent);
    }

    private void await(CompletionQueue queue) throws InterruptedException {
        if (queue.await(completions, timeout) == 0) {
            throw new IllegalStateException("nothing has completed within " + timeout);
        }
        if (!completions.isSuccess(0)) {
            throw new IllegalStateException("failed with " + completions.status(0));
        }
    }

    /// Frees everything, including the memory allocated in the domain.
    @Override
    public void close() {
        try (arena;
                sent;
                received;
                domain) {
            queuePair.close();
        }
    }
}
