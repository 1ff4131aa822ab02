package io.rdmacomm.nio.rsocket;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: an rsocket has failed.
@Name("io.rdmacomm.SocketError")
@Label("Socket Error")
@Category("rdmacomm")
@Description("An rsocket has failed after it was connected")
@StackTrace(false)
final class SocketErrorEvent extends Event {
    @Label("Peer")
    String peer = "";

    @Label("Failure")
    String failure = "";
}
