package io.rdmacomm.tests.cli;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.Route;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/// A client that sends any message, without a protocol.
final class RawClient implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Arena arena = Arena.ofConfined();
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final Connection connection;
    private final Completions completions = Completions.create(arena, 1);

    RawClient(ConnectionManager manager, int port) throws InterruptedException {
        domain = manager.context().allocateProtectionDomain();
        queue = manager.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        region = domain.allocate(4096, AccessFlag.allRemote());
        QueuePair queuePair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Route route = manager.resolve(server, TIMEOUT)) {
            route.prepare(queuePair);
            ReceiveBatch receives = ReceiveBatch.create(arena, 4, 1);
            for (int i = 0; i < 4; i++) {
                receives.receive(i).with(region, 2048, 1024);
            }
            queuePair.post(receives);
            connection = route.connect(queuePair, ConnectionParameters.defaults(), TIMEOUT);
        }
    }

    MemoryRegion region() {
        return region;
    }

    /// Sends a message and waits for its completion.
    void send(ByteBuffer message) {
        MemorySegment bytes = MemorySegment.ofBuffer(message.flip());
        region.segment().copyFrom(bytes);
        SendBatch send = SendBatch.create(arena, 1, 1);
        send.send(7).with(region, 0, bytes.byteSize()).signaled();
        connection.queuePair().post(send);
        Deadline.await("completion of the message", () -> queue.poll(completions) == 1 && completions.workId(0) == 7);
    }

    /// Waits until the server has ended the connection.
    void awaitEnd() {
        Deadline.await(
                "the end of the connection",
                () -> queue.poll(completions) == 1 && completions.status(0) == WorkStatus.FLUSHED);
    }

    @Override
    public void close() {
        connection.close();
        domain.close();
        queue.close();
        arena.close();
    }
}
