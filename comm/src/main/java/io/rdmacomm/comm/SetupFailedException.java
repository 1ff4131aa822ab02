package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A server could not listen, a client could not connect, or a node could not join a mesh. The message says what
/// happened; the reason is for programs that act on it.
///
/// A peer that went away during the setup causes a [PeerFailedException] with GONE instead, and a silent peer a
/// [io.rdmacomm.verbs.DeadlineException].
public final class SetupFailedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The kinds of failure. Later versions may have more: a `switch` over them needs a `default`.
    public enum Reason {
        /// The name of the host has no address. Check it, and the name service.
        HOST_UNKNOWN,
        /// No server listens there, the host or its queue pairs cannot be reached, or the peer refused with a
        /// reason. Start the server first, or use [SessionOptions#withWaitForServer]; a firewall must let
        /// both ports of a session pass.
        REFUSED,
        /// The peer refused for now, because too many are connecting. Try again a moment later.
        BUSY,
        /// The peer could not be authenticated: the two sides do not have the same [Secret], only one of them
        /// has [Tls], or one rejects the certificate of the other. Both sides report it. Compare their
        /// options.
        UNPROVED,
        /// The peer violated the protocol: another program listens on that port, or connected to it. Check
        /// the port.
        PROTOCOL_VIOLATED,
        /// The two sides have no common version of the protocol. The message names both versions and the side
        /// to update.
        OTHER_VERSION,
        /// The server's port is in use. Choose another one, or stop the program that uses it.
        PORT_TAKEN,
        /// Anything else; only the message says what.
        OTHER
    }

    private final Reason reason;

    /// A failure with one line that says what happened and what to do.
    public SetupFailedException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /// The kind of failure.
    public Reason reason() {
        return reason;
    }
}
