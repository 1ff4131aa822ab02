package io.rdmacomm.comm.data;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: an operation took long from its start to its handler.
@Name("io.rdmacomm.SlowOperation")
@Label("Slow Operation")
@Category("rdmacomm")
@Description("An operation took longer than a millisecond from its start to its handler")
@StackTrace(false)
final class SlowOperationEvent extends Event {
    /// The shortest time that counts as slow.
    static final long THRESHOLD_NANOS = 1_000_000;

    @Label("Channel")
    String channel = "";

    @Label("Operation")
    String operation = "";

    @Label("Bytes")
    long bytes;

    @Label("Nanoseconds")
    long nanos;
}
