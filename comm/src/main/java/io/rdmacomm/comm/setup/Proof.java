package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.comm.setup.TcpConnector.Frame;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// The exchange in which two sides prove to each other that they have the same secret, before they send
/// anything else. Each answers a nonce of the other, so that recordings cannot be replayed.
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
/// A code is the HMAC-SHA-256 of "rdmacomm proof", the type of the frame that follows the exchange, the role,
/// and the payloads of both GREETING and both PROVE frames, each after its length. The role prevents
/// reflection of a side's own code; the type of the frame prevents a code for an exchange from opening a
/// session; the greetings prevent downgrades of versions or features in transit. UNPROVED with a reason ends
/// the exchange.
///
/// @param codes computes the code of a message with the secret; null without a secret
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
    /// @param greetings of both sides
    /// @param step how long each answer may take
    /// @throws SetupException UNPROVED; and the reasons of [TcpConnector#receive]
    void asClient(TcpConnector server, Transcript greetings, Duration step) {
        UnaryOperator<byte[]> own = codes;
        if (own == null) {
            return;
        }
        ByteBuffer mine = nonce();
        server.send(FrameType.PROVE, mine.duplicate());
        ByteBuffer theirs = checked(server, server.receive(FrameType.PROVE, step), NONCE_BYTES);
        Transcript said = greetings.with(mine, theirs);
        server.send(FrameType.PROOF, ByteBuffer.wrap(code(own, CLIENT, said)));
        ByteBuffer proof = checked(server, server.receive(FrameType.PROOF, step), CODE_BYTES);
        if (!isEqual(proof, code(own, SERVER, said))) {
            throw refusal(server, server.peer() + " does not have the secret of this side; " + SAME);
        }
    }

    /// The server's side, and the frame that follows. Blocks.
    ///
    /// @param greetings of both sides
    /// @param step how long each frame may take
    /// @param proved runs when the client is authenticated, or its next frame has arrived
    /// @return the payload of that frame
    /// @throws SetupException UNPROVED; and the reasons of [TcpConnector#receive]
    ByteBuffer asServer(TcpConnector client, Transcript greetings, Duration step, Runnable proved) {
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
        ByteBuffer theirs = checked(client, first.payload(), NONCE_BYTES);
        ByteBuffer mine = nonce();
        client.send(FrameType.PROVE, mine.duplicate());
        Transcript said = greetings.with(theirs, mine);
        ByteBuffer proof = checked(client, client.receive(FrameType.PROOF, step), CODE_BYTES);
        if (!isEqual(proof, code(own, CLIENT, said))) {
            throw refusal(client, "the secret of the client " + client.peer() + " is not that of the server; " + SAME);
        }
        proved.run();
        client.send(FrameType.PROOF, ByteBuffer.wrap(code(own, SERVER, said)));
        return client.receive(next, step);
    }

    private static ByteBuffer nonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        // Created on demand, so that sessions without a secret need not load the security providers.
        new SecureRandom().nextBytes(nonce);
        return ByteBuffer.wrap(nonce);
    }

    private byte[] code(UnaryOperator<byte[]> own, byte role, Transcript said) {
        byte[] payloads = said.bytes();
        ByteBuffer message = ByteBuffer.allocate(LABEL.length + 2 + 1 + payloads.length);
        return own.apply(message.put(LABEL)
                .putShort((short) next.code())
                .put(role)
                .put(payloads)
                .array());
    }

    /// Ignores bytes after the code. Bytes after a nonce are ignored as well, but both codes cover them.
    private static boolean isEqual(ByteBuffer proof, byte[] code) {
        byte[] received = new byte[CODE_BYTES];
        proof.get(proof.position(), received);
        return MessageDigest.isEqual(received, code);
    }

    private static ByteBuffer checked(TcpConnector from, ByteBuffer payload, int least) {
        if (payload.remaining() < least) {
            throw new SetupException(
                    Reason.PROTOCOL_VIOLATED,
                    from.peer() + " sent " + payload.remaining() + " bytes in the proof of its secret, at least "
                            + least + " are needed");
        }
        return payload;
    }

    /// Sends the reason to the peer, too.
    private static SetupException refusal(TcpConnector peer, String why) {
        peer.refuse(FrameType.UNPROVED, why);
        return new SetupException(Reason.UNPROVED, why);
    }
}
