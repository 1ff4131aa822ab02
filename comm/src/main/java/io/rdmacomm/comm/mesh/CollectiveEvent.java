package io.rdmacomm.comm.mesh;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: a collective has ended on this rank, well or not.
@Name("io.rdmacomm.Collective")
@Label("Collective")
@Category("rdmacomm")
@Description("A collective operation of a mesh, from the call to its return")
@StackTrace(false)
final class CollectiveEvent extends Event {
    @Label("Kind")
    String kind = "";

    @Label("Algorithm")
    String algorithm = "";

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Rank")
    int rank;

    @Label("Ranks")
    int ranks;

    @Label("Failure")
    String failure = "";
}
