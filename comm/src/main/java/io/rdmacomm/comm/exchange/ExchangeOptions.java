package io.rdmacomm.comm.exchange;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.Tls;
import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.setup.AcceptedConnections;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.HandshakePreamble;
import io.rdmacomm.comm.setup.Proof;
import io.rdmacomm.comm.setup.Protocol;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The protocol of an exchange, and how its two sides trust each other. Immutable and thread-safe.
public final class ExchangeOptions {
    private static final Duration STEP = Duration.ofSeconds(5);
    private static final int MAX_UNPROVED = 256;
    private static final int MAX_CONVERSATIONS = 10_000;

    private final Greeting greeting;
    private final @Nullable Secret secret;
    private final @Nullable Tls tls;
    private final Duration step;
    private final int maxUnproved;
    private final int maxConversations;

    private ExchangeOptions(
            Greeting greeting,
            @Nullable Secret secret,
            @Nullable Tls tls,
            Duration step,
            int maxUnproved,
            int maxConversations) {
        this.greeting = greeting;
        this.secret = secret;
        this.tls = tls;
        this.step = step;
        this.maxUnproved = maxUnproved;
        this.maxConversations = maxConversations;
    }

    /// A protocol of version 1 without features, secret and TLS, with 5 s for each step of the handshake.
    ///
    /// @param protocol its name, which both sides give: 1 to 64 letters, digits, `.`, `-` and `_` of ASCII. The
    ///         name of a package of the program is a good one, because no other program has it
    /// @throws IllegalArgumentException if the name has another form
    public static ExchangeOptions of(String protocol) {
        return new ExchangeOptions(
                new Greeting(Protocol.EXCHANGE, 1, 1, 0, protocol), null, null, STEP, MAX_UNPROVED, MAX_CONVERSATIONS);
    }

    /// The same with other versions of the protocol. Both sides use the highest common version.
    ///
    /// @param lowest the lowest version that this side supports, 1 to 65,535
    /// @param highest the highest one, `lowest` to 65,535
    /// @throws IllegalArgumentException if a version is out of its range
    public ExchangeOptions withVersions(int lowest, int highest) {
        return with(new Greeting(Protocol.EXCHANGE, lowest, highest, greeting.features(), greeting.name()));
    }

    /// The same with these features, one bit each. Both sides use the common features.
    public ExchangeOptions withFeatures(long features) {
        return with(new Greeting(Protocol.EXCHANGE, greeting.lowest(), greeting.highest(), features, greeting.name()));
    }

    private ExchangeOptions with(Greeting value) {
        return new ExchangeOptions(value, secret, tls, step, maxUnproved, maxConversations);
    }

    /// The same with a secret: only a peer that has it, too, gets or sends a message. It does not encrypt.
    public ExchangeOptions withSecret(Secret value) {
        return new ExchangeOptions(greeting, value, tls, step, maxUnproved, maxConversations);
    }

    /// The same in TLS: all messages are encrypted, and the certificates decide who may connect.
    public ExchangeOptions withTls(Tls value) {
        return new ExchangeOptions(greeting, secret, value, step, maxUnproved, maxConversations);
    }

    /// The same with another timeout for each step of the handshake and for [Exchange#send]. A peer that is silent, or
    /// does not read, for longer is dropped.
    ///
    /// @param timeout 1 ms to 24 h
    /// @throws IllegalArgumentException if it is out of its range
    public ExchangeOptions withStep(Duration timeout) {
        Bounds.timeout("timeout of a step", timeout);
        return new ExchangeOptions(greeting, secret, tls, timeout, maxUnproved, maxConversations);
    }

    /// The same with another limit of a server: the connections of one address that have not proved themselves yet
    /// (256 by default). If there is one more, the oldest of them is closed, and its client learns that the
    /// server is busy. All addresses together have at most 1,024.
    ///
    /// @param connections 1 to 1,024
    /// @throws IllegalArgumentException if it is out of its range
    public ExchangeOptions withMaxUnproved(int connections) {
        Bounds.range("connections of one address", connections, 1, AcceptedConnections.MOST_NEWCOMERS);
        return new ExchangeOptions(greeting, secret, tls, step, connections, maxConversations);
    }

    /// The same with another limit of a server: the conversations at a time (10,000 by default). The client of one more
    /// learns that the server is busy.
    ///
    /// @param conversations 1 to 1,000,000
    /// @throws IllegalArgumentException if it is out of its range
    public ExchangeOptions withMaxConversations(int conversations) {
        Bounds.range("conversations", conversations, 1, 1_000_000);
        return new ExchangeOptions(greeting, secret, tls, step, maxUnproved, conversations);
    }

    /// The handshake with the other side.
    HandshakePreamble preamble() {
        return new HandshakePreamble(
                tls == null ? null : tls::engine,
                greeting,
                new Proof(secret == null ? null : secret::authenticate, FrameType.MESSAGE));
    }

    Duration step() {
        return step;
    }

    int maxUnproved() {
        return maxUnproved;
    }

    int maxConversations() {
        return maxConversations;
    }

    /// The name of the protocol.
    @Override
    public String toString() {
        return "exchange " + greeting.name();
    }
}
