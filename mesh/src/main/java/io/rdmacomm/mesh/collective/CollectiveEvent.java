package io.rdmacomm.mesh.collective;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// Flight recorder: a collective has ended on this rank, successfully or not.
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

    /// A new event that has begun, if a recording wants it. Allocates nothing otherwise.
    static @Nullable CollectiveEvent beginIfEnabled() {
        if (!FlightRecorder.isInitialized() || !Probe.EVENT.isEnabled()) {
            return null;
        }
        CollectiveEvent event = new CollectiveEvent();
        event.begin();
        return event;
    }

    /// Used to ask whether the event type is enabled. Created only when the flight recorder runs.
    private static final class Probe {
        static final CollectiveEvent EVENT = new CollectiveEvent();
    }
}
