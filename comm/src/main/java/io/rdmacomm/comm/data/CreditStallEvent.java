package io.rdmacomm.comm.data;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: a channel could not send because the peer had no receive left.
@Name("io.rdmacomm.CreditStall")
@Label("Credit Stall")
@Category("rdmacomm")
@Description("A channel could not send because the peer had no receive left")
@StackTrace(false)
final class CreditStallEvent extends Event {
    @Label("Channel")
    String channel = "";

    @Label("Nanoseconds")
    long nanos;
}
