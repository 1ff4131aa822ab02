package io.rdmacomm.nio.rsocket;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: an rsocket was connected or accepted, or could not be.
@Name("io.rdmacomm.SocketConnect")
@Label("Socket Connect")
@Category("rdmacomm")
@Description("An rsocket was connected or accepted, or could not be: from the request until bytes can be sent")
@StackTrace(false)
final class SocketConnectEvent extends Event {
    @Label("Accepted")
    @Description("Whether the peer has asked for the connection")
    boolean accepted;

    @Label("Peer")
    String peer = "";

    @Label("Local")
    @Description("The address on this side")
    String local = "";

    @Label("Failure")
    String failure = "";
}
