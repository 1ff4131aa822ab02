package io.rdmacomm.comm.setup;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The steps before two sides say anything else: TLS, and in it the proof of the secret.
///
/// @param tls makes the engine of each connection; null without TLS
/// @param proof of the secret
public record Authentication(@Nullable TlsEngines tls, Proof proof) {
    /// The client's side. Blocks.
    ///
    /// @param step how long each step may take
    /// @throws SetUpException UNPROVED; and the reasons of [TcpConnector#receive]
    public void asClient(TcpConnector server, Duration step) {
        if (tls != null) {
            server.secure(tls, step);
        }
        proof.asClient(server, step);
    }

    /// The server's side, and the frame that follows. Blocks.
    ///
    /// @param step how long each step may take
    /// @param proved runs when the client has proved itself, or the frame that follows is there
    /// @return the payload of that frame
    /// @throws SetUpException UNPROVED; and the reasons of [TcpConnector#receive]
    public ByteBuffer asServer(TcpConnector client, Duration step, Runnable proved) {
        if (tls != null) {
            client.secure(tls, step);
        }
        return proof.asServer(client, step, proved);
    }

    /// Whether it decides who may connect.
    public boolean isDemanding() {
        return tls != null || proof.codes() != null;
    }
}
