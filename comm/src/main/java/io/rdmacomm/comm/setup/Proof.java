package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetUpException.Reason;
import io.rdmacomm.comm.setup.TcpConnector.Frame;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// The exchange in which two sides prove to each other that they have the same secret, before either says anything
/// else. Each answers a random number of the other, so that what was recorded cannot be replayed.
///
/// ```
/// client                                  server
///   | PROVE client's nonce                  |
///   |-------------------------------------->|
///   |                PROVE server's nonce   |
///   |<--------------------------------------|
///   | PROOF code(client, nonces)            |   compares
///   |-------------------------------------->|
///   |          PROOF code(server, nonces)   |   only for a client that has proved itself
///   |<--------------------------------------|
/// ```
///
/// A code is the HMAC-SHA-256 of "rdmacomm proof", the version of the protocol, the type of the frame that
/// follows the exchange, the role, and both nonces. The role keeps a side from being sent its own code back; the
/// type of the frame keeps a code for a rendezvous from opening a session. UNPROVED with a reason ends the
/// exchange.
///
/// @param codes makes the code of a message with the secret; null without a secret
/// @param next the frame that the client sends after it
public record Proof(@Nullable UnaryOperator<byte[]> codes, FrameType next) {
    private static final int NONCE_BYTES = 32;
    private static final int CODE_BYTES = 32;
    private static final byte[] LABEL = {'r', 'd', 'm', 'a', 'c', 'o', 'm', 'm', ' ', 'p', 'r', 'o', 'o', 'f'};
    private static final byte CLIENT = 1;
    private static final byte SERVER = 2;

    private static final String SAME = "give both sides the same secret (SessionOptions.withSecret, --secret-file)";

    /// The client's side. Blocks. Does nothing without a secret.
    ///
    /// @param step how long each answer may take
    /// @throws SetUpException UNPROVED; and the reasons of [TcpConnector#receive]
    public void asClient(TcpConnector server, Duration step) {
        UnaryOperator<byte[]> own = codes;
        if (own == null) {
            return;
        }
        byte[] mine = nonce();
        server.send(FrameType.PROVE, ByteBuffer.wrap(mine));
        byte[] theirs = bytes(server, server.receive(FrameType.PROVE, step), NONCE_BYTES);
        server.send(FrameType.PROOF, ByteBuffer.wrap(code(own, CLIENT, mine, theirs)));
        byte[] proof = bytes(server, server.receive(FrameType.PROOF, step), CODE_BYTES);
        if (!MessageDigest.isEqual(proof, code(own, SERVER, mine, theirs))) {
            throw refusal(server, server.peer() + " has not the secret of this side; " + SAME);
        }
    }

    /// The server's side, and the frame that follows. Blocks.
    ///
    /// @param step how long each frame may take
    /// @param proved runs when the client has proved itself, or the frame that follows is there
    /// @return the payload of that frame
    /// @throws SetUpException UNPROVED; and the reasons of [TcpConnector#receive]
    public ByteBuffer asServer(TcpConnector client, Duration step, Runnable proved) {
        UnaryOperator<byte[]> own = codes;
        Frame first = client.receive(FrameType.PROVE, next, step);
        if (own == null) {
            if (first.type() == FrameType.PROVE) {
                throw refusal(
                        client,
                        "the client " + client.peer() + " has a secret and the server has none; start the server with"
                                + " the client's (SessionOptions.withSecret, --secret-file), or the client without");
            }
            proved.run();
            return first.payload();
        }
        if (first.type() != FrameType.PROVE) {
            throw refusal(
                    client,
                    "the server demands a secret and the client " + client.peer() + " has none; start the client with"
                            + " the server's (SessionOptions.withSecret, --secret-file)");
        }
        byte[] theirs = bytes(client, first.payload(), NONCE_BYTES);
        byte[] mine = nonce();
        client.send(FrameType.PROVE, ByteBuffer.wrap(mine));
        byte[] proof = bytes(client, client.receive(FrameType.PROOF, step), CODE_BYTES);
        if (!MessageDigest.isEqual(proof, code(own, CLIENT, theirs, mine))) {
            throw refusal(client, "the secret of the client " + client.peer() + " is not that of the server; " + SAME);
        }
        proved.run();
        client.send(FrameType.PROOF, ByteBuffer.wrap(code(own, SERVER, theirs, mine)));
        return client.receive(next, step);
    }

    private static byte[] nonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        // Made when it is needed: sessions without a secret do not wait for the system's providers to be loaded.
        new SecureRandom().nextBytes(nonce);
        return nonce;
    }

    private byte[] code(UnaryOperator<byte[]> own, byte role, byte[] client, byte[] server) {
        ByteBuffer message = ByteBuffer.allocate(LABEL.length + 2 + 2 + 1 + 2 * NONCE_BYTES);
        message.put(LABEL).putShort((short) TcpConnector.VERSION).putShort((short) next.code());
        message.put(role).put(client).put(server);
        return own.apply(message.array());
    }

    private static byte[] bytes(TcpConnector from, ByteBuffer payload, int length) {
        if (payload.remaining() != length) {
            throw new SetUpException(
                    Reason.PROTOCOL_VIOLATED,
                    from.peer() + " sent " + payload.remaining() + " bytes in the proof of its secret, where " + length
                            + " are right");
        }
        byte[] bytes = new byte[length];
        payload.get(bytes);
        return bytes;
    }

    /// The peer is told, too.
    private static SetUpException refusal(TcpConnector peer, String why) {
        peer.refuse(FrameType.UNPROVED, why);
        return new SetUpException(Reason.UNPROVED, why);
    }
}
