package io.rdmacomm.examples;

import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Node;
import io.rdmacomm.mesh.Rendezvous;

/// Joins a mesh and greets all other nodes. Without a launcher, four nodes run in this process.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.MeshGreeting [RANK SIZE HOST PORT]
/// mpirun -n 4 env java -cp rdmacomm.jar io.rdmacomm.examples.MeshGreeting
/// ```
public final class MeshGreeting {
    private MeshGreeting() {}

    /// Runs one node, or four.
    public static void main(String[] arguments) {
        MeshNodes.run(arguments, MeshGreeting::greet);
    }

    private static void greet(Rendezvous rendezvous) {
        try (Mesh mesh = Mesh.join(rendezvous, SessionOptions.defaults())) {
            RdmaBuffer greeting = mesh.session().allocate("greeting", 64);
            greeting.segment().setString(0, "rank " + mesh.rank() + " greets all others");
            for (Node peer : mesh.peers()) {
                peer.channel().blocking().send(greeting.whole());
            }
            for (Node peer : mesh.peers()) {
                try (Message message = peer.channel().blocking().receive()) {
                    System.out.println("rank " + mesh.rank() + " hears: "
                            + message.segment().getString(0));
                }
            }
        }
    }
}
