package io.rdmacomm.nio.rsocket;

import io.rdmacomm.nio.rsocket.RsConnector.Established;
import java.io.IOException;
import java.net.InetSocketAddress;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

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

    /// A way to a connection.
    interface Establishment {
        Established run() throws IOException;
    }

    /// Establishes a connection, and records that if somebody listens.
    static Established record(boolean accepted, InetSocketAddress peer, Establishment establishment)
            throws IOException {
        // The first event of a JVM costs a tenth of a second, even if nobody records.
        SocketConnectEvent event = FlightRecorder.isInitialized() ? new SocketConnectEvent() : null;
        if (event == null) {
            return establishment.run();
        }
        event.accepted = accepted;
        event.peer = peer.toString();
        event.begin();
        try {
            Established established = establishment.run();
            event.end(established, "");
            return established;
        } catch (IOException e) {
            event.end(null, "" + e.getMessage());
            throw e;
        }
    }

    private void end(@Nullable Established established, String cause) {
        local = established == null ? "" : established.local().toString();
        failure = cause;
        commit();
    }
}
