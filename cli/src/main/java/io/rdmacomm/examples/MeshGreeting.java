package io.rdmacomm.examples;

import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.mesh.Mesh;
import io.rdmacomm.comm.mesh.Node;
import io.rdmacomm.comm.mesh.Rendezvous;

/// Joins a mesh and greets all other nodes. Start it with a launcher, or with the numbers of each node:
///
/// ```
/// mpirun -n 4 java -cp rdmacomm.jar io.rdmacomm.examples.MeshGreeting
/// java -cp rdmacomm.jar io.rdmacomm.examples.MeshGreeting RANK SIZE HOST PORT
/// ```
public final class MeshGreeting {
    private MeshGreeting() {}

    /// Runs one node.
    public static void main(String[] arguments) {
        Rendezvous rendezvous = arguments.length == 4 ? given(arguments) : Rendezvous.ofEnvironment();
        try (Mesh mesh = Mesh.join(rendezvous, SessionOptions.defaults())) {
            RdmaBuffer greeting = mesh.session().allocate("greeting", 64, 1);
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

    private static Rendezvous given(String[] arguments) {
        return Rendezvous.of(
                Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]),
                arguments[2],
                Integer.parseInt(arguments[3]));
    }
}
