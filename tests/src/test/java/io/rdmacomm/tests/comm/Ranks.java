package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.CollectiveOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;

/// All ranks of a mesh in this process, each with a thread of its own for a while.
final class Ranks implements AutoCloseable {
    /// Short pieces and few slots, so that little data makes long pipelines.
    static final CollectiveOptions SMALL =
            CollectiveOptions.defaults().withSlots(3).withSlotBytes(1024).withMessageBytes(256);

    private final MeshNodes nodes;

    private Ranks(MeshNodes nodes) {
        this.nodes = nodes;
    }

    static Ranks join(int size, SessionOptions options, CollectiveOptions collectives) {
        MeshNodes nodes = MeshNodes.join(size, options);
        nodes.all().forEach(mesh -> mesh.collectives(collectives));
        return new Ranks(nodes);
    }

    static Ranks join(int size, MeshDevice device) {
        return join(size, device.options(), SMALL);
    }

    Mesh mesh(int rank) {
        return nodes.node(rank);
    }

    /// Runs `task` on all ranks at the same time.
    ///
    /// @throws AssertionError with the first failure that is not a consequence of another
    void run(Consumer<Mesh> task) {
        List<Throwable> failures = call(mesh -> {
                    task.accept(mesh);
                    return mesh;
                })
                .stream()
                .map(Ranks::failure)
                .filter(failure -> failure != null)
                .toList();
        if (!failures.isEmpty()) {
            Throwable first = failures.stream()
                    .filter(AssertionError.class::isInstance)
                    .findFirst()
                    .orElse(failures.getFirst());
            AssertionError error = new AssertionError(first.toString(), first);
            failures.forEach(error::addSuppressed);
            throw error;
        }
    }

    /// Runs `task` on all ranks at the same time, and waits until it has ended on all.
    <T> List<CompletableFuture<T>> call(Function<Mesh, T> task) {
        List<CompletableFuture<T>> results = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Mesh mesh : nodes.all()) {
            CompletableFuture<T> result = new CompletableFuture<>();
            results.add(result);
            threads.add(Thread.ofPlatform().daemon().name("rank-" + mesh.rank()).start(() -> {
                try {
                    result.complete(task.apply(mesh));
                } catch (RuntimeException | Error e) {
                    result.completeExceptionally(e);
                }
            }));
        }
        threads.forEach(Ranks::join);
        return results;
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + thread.getName(), e);
        }
    }

    /// Why a call has failed; null if it has not.
    static Throwable failure(CompletableFuture<?> result) {
        try {
            result.join();
            return null;
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    @Override
    public void close() {
        nodes.close();
    }
}
