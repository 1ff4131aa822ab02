package io.rdmacomm.comm.exchange;

import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.setup.AgreedVersion;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.TcpConnector;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A conversation of two programs that have agreed on a version and, with a secret or TLS, have proved who they are.
/// The client sends the first message; after that, the protocol of the program decides whose turn it is.
///
/// One thread at a time sends, one receives; any thread closes, which wakes both.
///
/// ```java
/// var options = ExchangeOptions.of("org.example.greeter").withSecret(secret);
/// try (Exchange exchange = Exchange.connect("node7", 4000, options, Duration.ofSeconds(10))) {
///     exchange.send(question);
///     ByteBuffer answer = exchange.receive(Duration.ofSeconds(5));
/// }
/// ```
public final class Exchange implements AutoCloseable {
    /// The longest message in bytes.
    public static final int MAX_MESSAGE_BYTES = TcpConnector.MAX_PAYLOAD;

    private final TcpConnector connection;
    private final AgreedVersion agreed;
    private final Duration step;
    /// The client's first message, which ends the handshake; null if there is none or [#receive] has returned it.
    private @Nullable ByteBuffer first;

    /// @param step how long a message may take to be sent
    Exchange(TcpConnector connection, AgreedVersion agreed, Duration step, @Nullable ByteBuffer first) {
        this.connection = connection;
        this.agreed = agreed;
        this.step = step;
        this.first = first;
    }

    /// Connects to a server, agrees with it on a version, and proves the secret, if any. Blocks. The server's handler
    /// runs when the first message has arrived, so send it within the server's timeout for a step.
    ///
    /// @param host a name, an IPv4 or an IPv6 address; empty for this host
    /// @param port 1 to 65,535
    /// @param timeout how long the connection may take, name resolution included; each step of the handshake
    ///         has the timeout of the options
    /// @throws SetupFailedException if it fails; the reason says why, and after BUSY another attempt may succeed
    /// @throws io.rdmacomm.comm.PeerFailedException GONE if the server ends the connection
    /// @throws io.rdmacomm.verbs.DeadlineException if it does not answer in time
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread is interrupted
    public static Exchange connect(String host, int port, ExchangeOptions options, Duration timeout) {
        TcpConnector connection = null;
        Exchange made = null;
        try {
            connection = TcpConnector.connect(host, port, timeout);
            AgreedVersion agreed = options.preamble().asClient(connection, options.step());
            made = new Exchange(connection, agreed, options.step(), null);
            return made;
        } catch (SetupException e) {
            throw ExchangeFailures.of(e);
        } finally {
            if (made == null && connection != null) {
                connection.close();
            }
        }
    }

    /// The highest version that both sides support.
    public int version() {
        return agreed.version();
    }

    /// The features that both sides have, one bit each.
    public long features() {
        return agreed.features();
    }

    /// Sends a message: the bytes of `message` from its position to its limit. Blocks only while the peer does not
    /// read and the buffers of the connection are full, for at most [ExchangeOptions#withStep]. After a failure the
    /// exchange can only be closed.
    ///
    /// @throws IllegalArgumentException if it is longer than [#MAX_MESSAGE_BYTES]
    /// @throws io.rdmacomm.comm.PeerFailedException GONE if the peer is gone
    /// @throws io.rdmacomm.verbs.DeadlineException if the peer does not read in time
    /// @throws io.rdmacomm.comm.ClosedException if this side has closed the exchange
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread is interrupted
    public void send(ByteBuffer message) {
        try {
            connection.send(FrameType.MESSAGE, message, step);
        } catch (SetupException e) {
            throw ExchangeFailures.of(e);
        }
    }

    /// Waits for a message. Blocks. After a failure the exchange can only be closed.
    ///
    /// @param timeout how long it may take until the message is complete
    /// @return the message, which belongs to the caller
    /// @throws SetupFailedException REFUSED if the peer has refused with [#refuse]; BUSY; UNPROVED if the
    ///         server demands a secret and this side has none; PROTOCOL_VIOLATED if the peer sends anything but
    ///         a message
    /// @throws io.rdmacomm.comm.PeerFailedException GONE if the peer is gone
    /// @throws io.rdmacomm.verbs.DeadlineException if the message is not complete in time
    /// @throws io.rdmacomm.comm.ClosedException if this side has closed the exchange
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread is interrupted
    public ByteBuffer receive(Duration timeout) {
        ByteBuffer early = first;
        if (early != null) {
            first = null;
            return early;
        }
        try {
            return connection.receive(FrameType.MESSAGE, timeout);
        } catch (SetupException e) {
            throw ExchangeFailures.of(e);
        }
    }

    /// Ends the conversation with a reason, which the peer's [#receive] reports as a [SetupFailedException]. Does
    /// nothing if the peer is gone. [#close] is still necessary.
    ///
    /// @param reason one line that says what to do; at most 512 bytes of it are sent
    public void refuse(String reason) {
        connection.refuse(reason);
    }

    /// Waits until the peer ends the connection, or this side closes it. Blocks without a timeout. A message that
    /// arrives counts as an end.
    ///
    /// @return why it ended, in words
    public String awaitEnd() {
        return String.valueOf(connection.awaitEnd().getMessage());
    }

    /// The TCP socket, for bytes after the last message, for example those of a file. The protocol of the program
    /// says which message is the last one. Closing the exchange closes it.
    ///
    /// @return the connected channel, in blocking mode until the caller changes that
    /// @throws IllegalStateException if the exchange uses TLS, whose records the bytes would break
    public SocketChannel socket() {
        return connection.socket();
    }

    /// The peer's address and port, for messages.
    public String peer() {
        return connection.peer();
    }

    /// The peer's address.
    public InetAddress remoteAddress() {
        return connection.remoteAddress();
    }

    /// The address of this side.
    public InetAddress localAddress() {
        return connection.localAddress();
    }

    /// Ends the conversation and wakes the threads that wait in it. The peer still receives what was sent before, if
    /// this side has read all that the peer has sent. Idempotent.
    @Override
    public void close() {
        connection.close();
    }

    /// Names the peer.
    @Override
    public String toString() {
        return "exchange with " + peer();
    }
}
