package io.rdmacomm.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A shared receive queue on plain verbs: all queue pairs of a server take their receives from one pool. So the
/// server needs memory for the messages that arrive, but not for all that each client could send. For sessions,
/// `SessionOptions.withSharedReceives` does the same.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.SharedReceiveServer [ROUNDS]
/// ```
public final class SharedReceiveServer {
    private static final int CLIENTS = 3;
    private static final int CHAIN = 8;
    private static final int RECEIVES = 64;
    private static final int LIMIT = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Completions completions;
    private final SendBatch chain;
    private final CompletionQueue sent;
    private final CompletionQueue received;
    private final MemoryRegion numbers;
    private final List<QueuePair> clients;
    private final ReceivePool pool;

    private SharedReceiveServer(ProtectionDomain domain, Arena arena, ReceivePool pool) {
        this.pool = pool;
        completions = Completions.create(arena, CLIENTS * CHAIN);
        chain = SendBatch.create(arena, CHAIN, 1);
        sent = domain.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(CLIENTS * CHAIN));
        received = domain.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(RECEIVES));
        clients = Stream.generate(() -> connect(domain, pool.queue()))
                .limit(CLIENTS)
                .toList();
        numbers = domain.allocate(CHAIN * Long.BYTES, EnumSet.noneOf(AccessFlag.class));
        for (int i = 0; i < CHAIN; i++) {
            chain.send(i).with(numbers, (long) i * Long.BYTES, Long.BYTES);
        }
        // The completion of the last message of a chain covers all of them.
        chain.signaled();
    }

    /// Connects a queue pair of a client to one of the server. By default, a client retries a message until there
    /// is a receive for it.
    private QueuePair connect(ProtectionDomain domain, SharedReceiveQueue receives) {
        QueuePairOptions options = QueuePairOptions.reliable(sent);
        QueuePair client = domain.createQueuePair(options);
        QueuePair server =
                domain.createQueuePair(options.withReceiveCompletions(received).withSharedReceives(receives));
        client.connect(server.info());
        server.connect(client.info());
        return client;
    }

    /// Runs the clients and their server.
    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1000;
        try (Arena arena = Arena.ofShared();
                Context context = Rdma.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                ReceivePool pool = new ReceivePool(domain, arena, RECEIVES, LIMIT, Long.BYTES)) {
            SharedReceiveServer example = new SharedReceiveServer(domain, arena, pool);
            for (int round = 0; round < rounds; round++) {
                example.send(round);
                example.serve(round);
            }
        }
        System.out.printf(
                "%d messages from %d clients went through %d receives%n", rounds * CLIENTS * CHAIN, CLIENTS, RECEIVES);
    }

    /// Each client sends the numbers of the round.
    private void send(int round) {
        for (int i = 0; i < CHAIN; i++) {
            numbers.segment().setAtIndex(JAVA_LONG, i, (long) round * CHAIN + i);
        }
        // There is room for the chain, because all messages of the previous round have completed.
        clients.forEach(client -> client.post(chain));
    }

    /// Takes the messages of a round. The messages of one client arrive in order; those of several clients are
    /// interleaved.
    private void serve(int round) {
        int[] seen = new int[CHAIN];
        for (int left = CLIENTS * CHAIN; left > 0; left -= completions.size()) {
            awaitCompletions(received);
            for (int i = 0; i < completions.size(); i++) {
                long receive = completions.workId(i);
                long number = pool.message(receive).get(JAVA_LONG, 0);
                seen[(int) (number - (long) round * CHAIN)]++;
                pool.release(receive);
            }
        }
        if (IntStream.of(seen).anyMatch(count -> count != CLIENTS)) {
            throw new IllegalStateException("a number of round " + round + " was lost, or came twice");
        }
        for (int left = CLIENTS; left > 0; left -= completions.size()) {
            awaitCompletions(sent);
        }
    }

    private void awaitCompletions(CompletionQueue queue) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (queue.poll(completions) == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("nothing has completed within " + TIMEOUT);
            }
            Thread.onSpinWait();
        }
        for (int i = 0; i < completions.size(); i++) {
            if (!completions.isSuccess(i)) {
                throw new IllegalStateException("work failed with " + completions.status(i));
            }
        }
    }
}
