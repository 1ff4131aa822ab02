package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One end that connects by address: a context, a connection manager, a queue pair and a region.
final class AddressEnd implements AutoCloseable {
    static final Duration LONG = Duration.ofSeconds(20);
    static final int HALF = 128 * 1024;

    final Context context;
    final ConnectionManager manager;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    final MemoryRegion region;
    QueuePair pair;
    private @Nullable SharedReceiveQueue shared;

    private final Arena arena = Arena.ofShared();
    private final Completions completions = Completions.create(arena, 32);
    private final ArrayDeque<Done> done = new ArrayDeque<>();

    /// The result of a request.
    record Done(long workId, WorkStatus status, boolean receive, long bytes, boolean immediate, int value) {}

    AddressEnd() {
        this("soft0=127.0.0.1");
    }

    AddressEnd(String settings) {
        context = Soft.open(settings);
        manager = ConnectionManager.open(context);
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(256));
        region = domain.allocate(2L * HALF, AccessFlag.allRemote());
        pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
    }

    /// A queue pair for the next connection.
    AddressEnd renew() {
        pair.close();
        while (queue.poll(completions) > 0) {
            // Flushed requests belong to the old one.
        }
        done.clear();
        QueuePairOptions options = QueuePairOptions.reliable(queue);
        pair = domain.createQueuePair(shared == null ? options : options.withSharedReceives(shared));
        return this;
    }

    /// A queue pair whose messages complete in the ring of the completion queue, and not in lines.
    AddressEnd shareReceives() {
        shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(64));
        return renew();
    }

    SendBatch batch() {
        return SendBatch.create(arena, 8, 2);
    }

    void post(SendBatch batch) {
        assertThat(pair.post(batch)).isEqualTo(batch.size());
    }

    /// Takes a message at the end of the region.
    void receive(long workId, int bytes) {
        ReceiveBatch batch = ReceiveBatch.create(arena, 1, 1).receive(workId).with(region, HALF, bytes);
        assertThat(shared == null ? pair.post(batch) : shared.post(batch)).isEqualTo(1);
    }

    void put(String text) {
        region.segment().setString(0, text);
    }

    String received() {
        return region.segment().getString(HALF, StandardCharsets.UTF_8);
    }

    void fill(int bytes, int start) {
        for (int i = 0; i < bytes; i++) {
            region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (start + i * 7));
        }
    }

    /// The next completion; in time or not at all.
    Done next() {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (done.isEmpty()) {
            take();
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("nothing completed on " + pair + " in state " + pair.state());
            }
        }
        return done.remove();
    }

    private void take() {
        int count = queue.poll(completions);
        for (int i = 0; i < count; i++) {
            boolean success = completions.isSuccess(i);
            done.add(new Done(
                    completions.workId(i),
                    completions.status(i),
                    success && completions.isReceive(i),
                    success ? completions.byteLength(i) : 0,
                    success && completions.hasImmediate(i),
                    success && completions.hasImmediate(i) ? completions.immediate(i) : 0));
        }
    }

    /// Whether nothing has completed now.
    boolean isQuiet() {
        return done.isEmpty() && queue.poll(completions) == 0;
    }

    /// Polls until this is so; in time or not at all.
    void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            take();
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not so yet, with " + pair + " in state " + pair.state());
            }
        }
    }

    Done succeeded(long workId) {
        Done found = next();
        assertThat(found.status()).as("%s", found).isEqualTo(WorkStatus.SUCCESS);
        assertThat(found.workId()).isEqualTo(workId);
        return found;
    }

    /// Waits until the engine has done that, without polling; in time or not at all.
    void awaitWithoutPolling(BooleanSupplier condition) {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not so yet, with " + pair + " in state " + pair.state());
            }
        }
    }

    List<WorkStatus> statuses(int count) {
        List<WorkStatus> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            found.add(next().status());
        }
        return found;
    }

    static <T> CompletableFuture<T> async(Callable<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(task.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    @Override
    public void close() {
        context.close();
        arena.close();
    }
}
