package io.rdmacomm.examples;

import io.rdmacomm.mesh.Launcher;
import io.rdmacomm.mesh.Rendezvous;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/// Starts the mesh examples: as one node if the arguments RANK SIZE HOST PORT or a launcher select it, and
/// otherwise as four nodes in this process.
final class MeshNodes {
    private static final int SIZE = 4;

    private MeshNodes() {}

    /// Returns when the node, or all four nodes, have returned.
    ///
    /// @throws java.util.concurrent.CompletionException if one of the four nodes has thrown an exception
    static void run(String[] arguments, Consumer<Rendezvous> node) {
        if (arguments.length == 4) {
            int rank = Integer.parseInt(arguments[0]);
            int size = Integer.parseInt(arguments[1]);
            node.accept(Rendezvous.of(rank, size, arguments[2], Integer.parseInt(arguments[3])));
        } else if (!Launcher.present(System.getenv()).isEmpty()) {
            node.accept(Rendezvous.ofEnvironment());
        } else {
            runHere(node);
        }
    }

    private static void runHere(Consumer<Rendezvous> node) {
        int port = freePort();
        CompletableFuture<?>[] nodes = IntStream.range(0, SIZE)
                .mapToObj(rank -> Rendezvous.of(rank, SIZE, "localhost", port))
                .map(rendezvous ->
                        CompletableFuture.runAsync(() -> node.accept(rendezvous), Thread::startVirtualThread))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(nodes).join();
    }

    /// A free port below those that the system and software devices choose at random.
    private static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 16_000);
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (IOException _) {
                // It is taken: try another one.
            }
        }
    }
}
