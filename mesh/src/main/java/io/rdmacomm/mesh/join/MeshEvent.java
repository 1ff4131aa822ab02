package io.rdmacomm.mesh.join;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: this node has joined a mesh, or could not.
@Name("io.rdmacomm.Mesh")
@Label("Mesh")
@Category("rdmacomm")
@Description("A node joined a mesh, or could not: from the call until all nodes are connected with each other")
@StackTrace(false)
final class MeshEvent extends Event {
    @Label("Rank")
    int rank;

    @Label("Ranks")
    int ranks;

    @Label("Rendezvous")
    String rendezvous = "";

    @Label("Failure")
    String failure = "";
}
