package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/// The nodes of a mesh, all in this process.
final class MeshNodes implements AutoCloseable {
    private final List<Mesh> meshes;

    private MeshNodes(List<Mesh> meshes) {
        this.meshes = meshes;
    }

    /// Joins a mesh with a node on each of `size` threads.
    static MeshNodes join(int size, SessionOptions options) {
        String host = options.host().isEmpty() ? "localhost" : options.host();
        int port = freePort();
        List<CompletableFuture<Mesh>> joining = new ArrayList<>();
        for (int rank = size - 1; rank >= 0; rank--) {
            Rendezvous rendezvous = Rendezvous.of(rank, size, host, port);
            joining.addFirst(inThread(() -> Mesh.join(rendezvous, options, TIMEOUT)));
        }
        try {
            return new MeshNodes(joining.stream().map(CompletableFuture::join).toList());
        } catch (CompletionException e) {
            for (CompletableFuture<Mesh> node : joining) {
                // The first rank may only report that another one has failed.
                node.handle((mesh, failure) -> {
                            if (mesh != null) {
                                mesh.close();
                            } else if (!failure.equals(e)) {
                                e.addSuppressed(failure);
                            }
                            return true;
                        })
                        .join();
            }
            throw e;
        }
    }

    /// Calls something on a thread of its own.
    static <T> CompletableFuture<T> inThread(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> Thread.ofVirtual().start(task));
    }

    /// A port on which no program listens, of those that software devices do not choose at random.
    static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 16_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // It is taken.
            }
        }
    }

    int size() {
        return meshes.size();
    }

    Mesh node(int rank) {
        return meshes.get(rank);
    }

    List<Mesh> all() {
        return meshes;
    }

    /// Closes all at once, as processes that end together do.
    @Override
    public void close() {
        List<CompletableFuture<Boolean>> closing = meshes.stream()
                .map(mesh -> inThread(() -> {
                    mesh.close();
                    return true;
                }))
                .toList();
        closing.forEach(CompletableFuture::join);
    }
}
