package io.rdmacomm.nio.rsocket;

import io.rdmacomm.nio.rsocket.RsConnector.Established;
import java.io.IOException;
import java.net.InetSocketAddress;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/// Reports to the flight recorder if it is active. Otherwise the event classes must not be loaded: the first one
/// costs the JVM a tenth of a second, even without a recording. A program or an image may lack the recorder.
final class SocketRecording {
    private static final boolean POSSIBLE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private SocketRecording() {}

    private static boolean isActive() {
        return POSSIBLE && FlightRecorder.isInitialized();
    }

    /// Establishes a connection.
    interface Establishment {
        Established run() throws IOException;
    }

    /// Establishes a connection and reports it.
    static Established connect(boolean accepted, InetSocketAddress peer, Establishment establishment)
            throws IOException {
        if (!isActive()) {
            return establishment.run();
        }
        SocketConnectEvent event = new SocketConnectEvent();
        event.accepted = accepted;
        event.peer = peer.toString();
        event.begin();
        try {
            Established established = establishment.run();
            end(event, established, "");
            return established;
        } catch (IOException e) {
            end(event, null, SocketFailures.reason(e));
            throw e;
        }
    }

    private static void end(SocketConnectEvent event, @Nullable Established established, String cause) {
        event.local = established == null ? "" : established.local().toString();
        event.failure = cause;
        event.commit();
    }

    /// Reports that a connection has failed.
    static void failed(String peer, String failure) {
        if (isActive()) {
            SocketErrorEvent event = new SocketErrorEvent();
            event.peer = peer;
            event.failure = failure;
            event.commit();
        }
    }
}
