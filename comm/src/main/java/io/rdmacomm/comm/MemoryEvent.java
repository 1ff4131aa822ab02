package io.rdmacomm.comm;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: a session has registered memory, or no longer has it.
@Name("io.rdmacomm.Memory")
@Label("Memory")
@Category("rdmacomm")
@Description("A session registers memory, or gives it back")
@StackTrace(false)
final class MemoryEvent extends Event {
    @Label("Session")
    String session = "";

    @Label("Buffer")
    String buffer = "";

    @Label("Bytes")
    @Description("Negative if the memory is given back")
    long bytes;

    @Label("Registered")
    @Description("All that the session has registered then")
    @DataAmount
    long registered;

    @Label("Limit")
    @Description("The limit for it, 2^63 - 1 if there is none")
    @DataAmount
    long limit;
}
