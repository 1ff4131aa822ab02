package io.rdmacomm.tests.simulation;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.mesh.Mesh;
import io.rdmacomm.comm.mesh.Rendezvous;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Nodes in this process, on the software device, to compare with.
final class RealMesh {
    static final Duration PATIENCE = Duration.ofMinutes(5);

    private RealMesh() {}

    /// Joins a mesh with a node on each of `size` threads.
    static List<Mesh> join(int size, int port, SessionOptions options) {
        List<CompletableFuture<Mesh>> joining = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            Rendezvous rendezvous = Rendezvous.of(rank, size, "localhost", port);
            joining.add(inThread(() -> Mesh.join(rendezvous, options, PATIENCE)));
        }
        return joining.stream().map(CompletableFuture::join).toList();
    }

    /// Does something on all nodes at the same time.
    static void onAll(List<Mesh> meshes, Consumer<Mesh> task) {
        meshes.stream()
                .map(mesh -> inThread(() -> {
                    task.accept(mesh);
                    return mesh;
                }))
                .toList()
                .forEach(CompletableFuture::join);
    }

    private static <T> CompletableFuture<T> inThread(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> Thread.ofVirtual().start(task));
    }
}
