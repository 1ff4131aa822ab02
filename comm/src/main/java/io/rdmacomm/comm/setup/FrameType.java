package io.rdmacomm.comm.setup;

import org.jspecify.annotations.Nullable;

/// The types of the frames of a [TcpConnector].
public enum FrameType {
    /// A client describes itself and its queue pairs.
    HELLO(1),
    /// A server describes itself and its queue pairs.
    WELCOME(2),
    /// Receives are posted: the peer may send.
    READY(3),
    /// The connection is refused; the payload is the reason in UTF-8.
    REFUSE(4),
    /// Asks the other side to prove that it has the secret; the payload begins with a nonce. See [Proof].
    PROVE(7),
    /// Proves it.
    PROOF(8),
    /// The two sides do not have the same secret, or only one has TLS; the payload is the reason in UTF-8.
    UNPROVED(9),
    /// The server has completed the TLS handshake; the first frame in TLS, without payload.
    SECURE(10),
    /// The connection is refused for now: the client may retry. The payload is the reason in UTF-8.
    BUSY(11),
    /// The versions and features of the sender, the first frame of each side. See [Greeting].
    GREETING(12),
    /// The connection is refused because there is no common version; the payload is the reason in UTF-8.
    OTHER_VERSION(13),
    /// A message of a program, in an exchange.
    MESSAGE(14);

    private static final FrameType[] VALUES = values();

    private final int code;

    FrameType(int code) {
        this.code = code;
    }

    /// The number on the wire.
    public int code() {
        return code;
    }

    /// The constant of `code`, or null.
    static @Nullable FrameType of(int code) {
        for (FrameType value : VALUES) {
            if (value.code == code) {
                return value;
            }
        }
        return null;
    }
}
