package io.rdmacomm.comm.setup;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The first steps of a handshake: TLS, the greetings, and the proof of the secret.
///
/// ```
/// client                                  server
///   | GREETING versions, features           |
///   |-------------------------------------->|
///   |         GREETING versions, features   |   also if there is no common version
///   |<--------------------------------------|
///   | the proof of the secret, if any       |
///   |<------------------------------------->|
/// ```
///
/// The client waits for the server's greeting, so that all later frames use the agreed version.
///
/// @param tls makes the engine of each connection; null without TLS
/// @param greeting the greeting of this side
/// @param proof of the secret; it covers both greetings, so that they cannot be changed in transit
public record HandshakePreamble(@Nullable TlsEngines tls, Greeting greeting, Proof proof) {
    /// An authenticated client.
    ///
    /// @param agreed the agreed version and features
    /// @param next the payload of the frame that followed
    public record AcceptedClient(AgreedVersion agreed, ByteBuffer next) {}

    /// The client's side. Blocks.
    ///
    /// @param step how long each step may take
    /// @return the agreed version and features
    /// @throws SetupException UNPROVED; OTHER_VERSION; and the reasons of [TcpConnector#receive]
    public AgreedVersion asClient(TcpConnector server, Duration step) {
        if (tls != null) {
            server.secure(tls, step);
        }
        server.send(FrameType.GREETING, greeting.encode());
        ByteBuffer answer = server.receive(FrameType.GREETING, step);
        AgreedVersion agreed = greeting.agree(Greeting.decode(answer, server.peer()), server.peer());
        proof.asClient(server, new Transcript(greeting.encode(), answer), step);
        return agreed;
    }

    /// The server's side, and the frame that follows. Blocks.
    ///
    /// @param step how long each step may take
    /// @param proved runs when the client is authenticated, or its next frame has arrived
    /// @throws SetupException UNPROVED; OTHER_VERSION; and the reasons of [TcpConnector#receive]
    public AcceptedClient asServer(TcpConnector client, Duration step, Runnable proved) {
        if (tls != null) {
            client.secure(tls, step);
        }
        ByteBuffer first = client.receive(FrameType.GREETING, step);
        Greeting peer = Greeting.decode(first, client.peer());
        // Sent before any decision, so that a client of another version gets both ranges.
        client.send(FrameType.GREETING, greeting.encode());
        AgreedVersion agreed = greeting.agree(peer, client.peer());
        ByteBuffer next = proof.asServer(client, new Transcript(first, greeting.encode()), step, proved);
        return new AcceptedClient(agreed, next);
    }

    /// Whether it authenticates peers.
    public boolean isDemanding() {
        return tls != null || proof.codes() != null;
    }
}
