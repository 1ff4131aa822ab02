package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.service.SystemSockets;
import io.rdmacomm.verbs.service.TcpKeepAlive;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// The TCP connection over which two sides exchange the descriptions of their queue pairs, and which then
/// detects the end of the peer's process. One thread at a time sends, one receives; [#close()] is thread-safe
/// and wakes both.
///
/// It carries frames, in network order:
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+---------------+---------------+
/// |   'R' 0x52    |   'D' 0x44    |   'M' 0x4d    |   'C' 0x43    |
/// +---------------+---------------+---------------+---------------+
/// |         zero, ignored         |             type              |
/// +-------------------------------+-------------------------------+
/// |                 length of the payload in bytes                |
/// +---------------------------------------------------------------+
/// |                            payload                         ...|
/// ```
///
/// A frame is rejected at its first wrong byte. No payload is longer than [#MAX_PAYLOAD], and every wait has a
/// deadline. Frames contain no version. The first frame of each side is a [Greeting]; all later frames use the
/// agreed version.
public final class TcpConnector implements AutoCloseable {
    /// The longest payload in bytes.
    public static final int MAX_PAYLOAD = 16 << 10;

    private static final int HEADER = 12;
    private static final byte[] MAGIC = {'R', 'D', 'M', 'C'};
    private static final int MAX_REASON = 512;
    private static final int USUAL_SILENCE = 30;

    private final SocketChannel channel;
    private final SocketLine socket;
    private final @Nullable InetSocketAddress server;
    private final InetAddress remote;
    private final String peer;
    /// Null between the first message of a TLS handshake and its end.
    private volatile @Nullable ByteLine line;

    private volatile boolean closed;

    /// For an accepted connection.
    TcpConnector(SocketChannel channel) throws IOException {
        this(channel, null);
    }

    /// @param server the name of the server, as it was given; null for an accepted connection
    private TcpConnector(SocketChannel channel, @Nullable InetSocketAddress server) throws IOException {
        this.channel = channel;
        this.socket = new SocketLine(channel);
        this.line = socket;
        this.server = server;
        InetSocketAddress address = (InetSocketAddress) channel.getRemoteAddress();
        this.remote = address.getAddress();
        this.peer = text(address);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        TcpKeepAlive.set(channel, USUAL_SILENCE);
    }

    /// From now on, ends the connection if the peer's host is silent for this long, because it has crashed or the
    /// network is cut. The time is 4 s to 9 h, in whole seconds; usually 30 s.
    ///
    /// @throws SetupException PEER_CLOSED; CLOSED
    public void limitSilence(Duration longest) {
        try {
            TcpKeepAlive.set(channel, (int) longest.plusNanos(999_999_999).toSeconds());
        } catch (IOException e) {
            throw broken(e);
        }
    }

    /// Connects to a server. Blocks. All addresses of the host are tried, in turn.
    ///
    /// @param host a name, an IPv4 or an IPv6 address; empty for this host
    /// @param port 1 to 65535
    /// @param timeout how long it may take at most, name resolution included
    /// @throws SetupException HOST_UNKNOWN; REFUSED if no server listens there or the host cannot be reached;
    ///         DEADLINE_PASSED; INTERRUPTED
    public static TcpConnector connect(String host, int port, Duration timeout) {
        Bounds.range("port", port, 1, 65535);
        long deadline = System.nanoTime() + timeout.toNanos();
        InetSocketAddress name = InetSocketAddress.createUnresolved(host.isEmpty() ? "localhost" : host, port);
        String target = name.getHostString() + ":" + port;
        SetupException last = null;
        for (InetAddress address : HostNames.resolve(host, deadline)) {
            try {
                return connect(new InetSocketAddress(address, port), name, deadline);
            } catch (ConnectException e) {
                last = new SetupException(
                        Reason.REFUSED,
                        "no program listens on " + target + "; start the server, or check host and port",
                        e);
            } catch (SocketTimeoutException e) {
                last = new SetupException(
                        Reason.DEADLINE_PASSED,
                        target + " did not answer within " + text(timeout) + "; check the host and its firewall",
                        e);
            } catch (ClosedByInterruptException e) {
                throw new SetupException(Reason.INTERRUPTED, "interrupted while connecting to " + target, e);
            } catch (IOException e) {
                last = new SetupException(Reason.REFUSED, target + " cannot be reached: " + e.getMessage(), e);
            }
        }
        throw last != null ? last : new SetupException(Reason.HOST_UNKNOWN, target + " has no address");
    }

    private static TcpConnector connect(InetSocketAddress address, InetSocketAddress name, long deadline)
            throws IOException {
        SocketChannel channel = SystemSockets.openSocket();
        boolean connected = false;
        try {
            channel.socket().connect(address, SocketLine.millisUntil(deadline));
            TcpConnector connector = new TcpConnector(channel, name);
            connected = true;
            return connector;
        } finally {
            if (!connected) {
                channel.close();
            }
        }
    }

    /// The address of this side.
    public InetAddress localAddress() {
        return channel.socket().getLocalAddress();
    }

    /// The socket, for data after the last frame; [#close()] closes it.
    ///
    /// @throws IllegalStateException with TLS
    public SocketChannel socket() {
        if (line != socket) {
            throw new IllegalStateException("bytes outside of TLS would break " + this);
        }
        return channel;
    }

    /// The peer's address.
    public InetAddress remoteAddress() {
        return remote;
    }

    /// The peer's address and port.
    public String peer() {
        return peer;
    }

    /// Sends a frame, and closes the connection if the peer does not read for so long that the frame does not fit into
    /// the buffers of the connection.
    ///
    /// @param timeout how long it may take at most
    /// @throws IllegalArgumentException if the payload is longer than [#MAX_PAYLOAD]
    /// @throws SetupException PEER_CLOSED; DEADLINE_PASSED; CLOSED
    public void send(FrameType type, ByteBuffer payload, Duration timeout) {
        CompletableFuture<Void> sent = new CompletableFuture<>();
        var _ = sent.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS).exceptionally(_ -> {
            close();
            return null;
        });
        SetupException failure = null;
        try {
            send(type, payload);
        } catch (SetupException e) {
            failure = e;
        }
        if (!sent.complete(null)) {
            failure = new SetupException(
                    Reason.DEADLINE_PASSED,
                    peer + " did not read a message within " + text(timeout) + "; is it alive?",
                    failure);
        }
        if (failure != null) {
            throw failure;
        }
    }

    /// Sends a frame that is so small that this returns even if the peer does not read, as those of a handshake.
    ///
    /// @throws IllegalArgumentException if the payload is longer than [#MAX_PAYLOAD]
    /// @throws SetupException PEER_CLOSED; CLOSED
    public void send(FrameType type, ByteBuffer payload) {
        Bounds.range("payload of a frame", payload.remaining(), 0, MAX_PAYLOAD);
        ByteBuffer frame = ByteBuffer.allocate(HEADER + payload.remaining());
        frame.put(MAGIC).putShort((short) 0).putShort((short) type.code());
        frame.putInt(payload.remaining()).put(payload).flip();
        try {
            line().write(frame);
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private ByteLine line() throws IOException {
        ByteLine current = line;
        if (current == null) {
            throw new SSLException("the TLS handshake is not complete");
        }
        return current;
    }

    /// Continues in TLS. Blocks until both sides have completed the handshake, and the server has confirmed
    /// it: a client of TLS 1.3 is done before the server has seen its certificate.
    ///
    /// @param timeout how long all of it may take at most
    /// @throws SetupException UNPROVED if one side has no TLS or rejects the other's certificate;
    ///         PROTOCOL_VIOLATED; REFUSED; PEER_CLOSED; DEADLINE_PASSED; CLOSED; INTERRUPTED
    void secure(TlsEngines engines, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            TlsLine tls = server == null ? accepted(engines, deadline) : begun(engines, deadline, timeout);
            tls.complete(deadline);
            line = tls;
        } catch (SSLException e) {
            throw new SetupException(Reason.UNPROVED, TlsFailures.words(e, peer, server == null), e);
        } catch (SocketTimeoutException e) {
            throw silent("the TLS handshake was not complete", timeout, e);
        } catch (EOFException e) {
            throw new SetupException(
                    Reason.PEER_CLOSED, peer + " closed the connection during the TLS handshake; does it use TLS?", e);
        } catch (IOException e) {
            throw broken(e);
        }
        if (server == null) {
            send(FrameType.SECURE, ByteBuffer.allocate(0));
        } else {
            awaitSecure(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
        }
    }

    /// Allocates nothing before the client has sent a byte, and sends nothing that it might not understand.
    private TlsLine accepted(TlsEngines engines, long deadline) throws IOException {
        byte first = socket.peek(deadline);
        if (first == MAGIC[0]) {
            throw unproved(
                    "the server demands TLS and the client " + peer + " does not use it; start the client with it"
                            + " (SessionOptions.withTls, --tls-keystore), or the server without");
        }
        checkRecord(first);
        line = null;
        TlsLine tls = new TlsLine(engines.engine(null), socket);
        tls.begin();
        return tls;
    }

    private TlsLine begun(TlsEngines engines, long deadline, Duration timeout) throws IOException {
        line = null;
        TlsLine tls = new TlsLine(engines.engine(server), socket);
        tls.begin();
        byte first = socket.peek(deadline);
        if (first == MAGIC[0]) {
            // A server without TLS, or one that is too busy and replies in plain frames.
            line = socket;
            receive(FrameType.SECURE, timeout);
            throw new SetupException(Reason.PROTOCOL_VIOLATED, peer + " answered without TLS");
        }
        checkRecord(first);
        return tls;
    }

    private void checkRecord(byte first) {
        if (!TlsLine.isRecord(first)) {
            throw otherProtocol();
        }
    }

    /// If the server rejects the certificate, its alert arrives here.
    private void awaitSecure(Duration timeout) {
        try {
            receive(FrameType.SECURE, timeout);
        } catch (SetupException e) {
            if (e.getCause() instanceof SSLException alert) {
                throw new SetupException(Reason.UNPROVED, TlsFailures.words(alert, peer, false), alert);
            }
            throw e;
        }
    }

    /// Sends the reason to the peer, too.
    private SetupException unproved(String why) {
        refuse(FrameType.UNPROVED, why);
        return new SetupException(Reason.UNPROVED, why);
    }

    private SetupException otherProtocol() {
        return new SetupException(
                Reason.PROTOCOL_VIOLATED,
                peer + " speaks another protocol; check that the port is that of rdmacomm",
                null);
    }

    private SetupException silent(String what, Duration timeout, SocketTimeoutException e) {
        return new SetupException(
                Reason.DEADLINE_PASSED,
                peer + " was silent: " + what + " within " + text(timeout)
                        + "; is it the right port, and is the peer alive?",
                e);
    }

    /// A frame that has arrived.
    ///
    /// @param payload owned by the caller
    record Frame(FrameType type, ByteBuffer payload) {}

    /// Refuses the peer with a reason, if the connection still exists.
    public void refuse(String reason) {
        refuse(FrameType.REFUSE, reason);
    }

    /// Sends a failure of this side to the peer, unless that was done already.
    public void refuse(SetupException why) {
        if (why.reason() != Reason.UNPROVED) {
            FrameType how = switch (why.reason()) {
                case OTHER_VERSION -> FrameType.OTHER_VERSION;
                case BUSY -> FrameType.BUSY;
                default -> FrameType.REFUSE;
            };
            refuse(how, String.valueOf(why.getMessage()));
        }
    }

    /// Refuses the peer for now, so that it may retry, and closes the connection.
    void displace() {
        refuse(FrameType.BUSY, "too many are connecting, and this connection was silent for longest; try again");
        close();
    }

    /// Sends a refusal with its reason to the peer.
    ///
    /// @param how REFUSE, BUSY, UNPROVED or OTHER_VERSION
    void refuse(FrameType how, String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        try {
            send(how, ByteBuffer.wrap(text, 0, Math.min(text.length, MAX_REASON)));
        } catch (SetupException e) {
            // The peer is gone.
        }
    }

    /// Waits for a frame. Blocks.
    ///
    /// @param expected the required type of the next frame
    /// @param timeout how long all of it may take at most
    /// @return its payload
    /// @throws SetupException PROTOCOL_VIOLATED if another frame or invalid data arrives; REFUSED, BUSY,
    ///         UNPROVED or OTHER_VERSION with the peer's reason; PEER_CLOSED; DEADLINE_PASSED if the frame is
    ///         not complete in time; CLOSED; INTERRUPTED
    public ByteBuffer receive(FrameType expected, Duration timeout) {
        return receive(expected, expected, timeout).payload();
    }

    /// Waits for a frame of one of two types. Blocks.
    ///
    /// @throws SetupException see [#receive(FrameType, Duration)]
    Frame receive(FrameType expected, FrameType orElse, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        byte[] header = new byte[HEADER];
        try {
            read(header, true, deadline, timeout);
            ByteBuffer fields = ByteBuffer.wrap(header).position(MAGIC.length);
            fields.getShort(); // Not used yet.
            FrameType type = FrameType.of(fields.getShort() & 0xffff);
            int length = fields.getInt();
            if (length < 0 || length > MAX_PAYLOAD) {
                throw new SetupException(
                        Reason.PROTOCOL_VIOLATED,
                        peer + " announced a frame of " + Integer.toUnsignedLong(length) + " bytes, at most "
                                + MAX_PAYLOAD + " are allowed");
            }
            byte[] payload = new byte[length];
            read(payload, false, deadline, timeout);
            Reason refusal = type == null || type == expected ? null : refusal(type);
            if (refusal != null) {
                throw new SetupException(refusal, peer + " refused: " + Printable.text(payload, MAX_REASON));
            }
            if (type == null || (type != expected && type != orElse)) {
                throw new SetupException(
                        Reason.PROTOCOL_VIOLATED,
                        peer + " sent " + (type == null ? "an unknown frame" : type) + " where " + orElse
                                + " was expected");
            }
            return new Frame(type, ByteBuffer.wrap(payload));
        } catch (IOException e) {
            throw broken(e);
        }
    }

    /// The reason that a frame of this type reports; null if it is not a refusal.
    private static @Nullable Reason refusal(FrameType type) {
        return switch (type) {
            case REFUSE -> Reason.REFUSED;
            case BUSY -> Reason.BUSY;
            case UNPROVED -> Reason.UNPROVED;
            case OTHER_VERSION -> Reason.OTHER_VERSION;
            default -> null;
        };
    }

    /// Fills `into`, and checks the magic number of a header as it arrives.
    private void read(byte[] into, boolean header, long deadline, Duration timeout) throws IOException {
        ByteLine from = line();
        int have = 0;
        while (have < into.length) {
            int count;
            try {
                count = from.read(into, have, into.length - have, deadline);
            } catch (SocketTimeoutException e) {
                throw silent("no complete frame", timeout, e);
            }
            if (count < 0) {
                throw new SetupException(Reason.PEER_CLOSED, peer + " closed the connection during the handshake");
            }
            have += count;
            if (header) {
                checkMagic(into, have);
            }
        }
    }

    private void checkMagic(byte[] header, int have) {
        if (server == null && line == socket && TlsLine.isRecord(header[0])) {
            throw unproved("the client " + peer + " uses TLS and the server does not; start the server with it"
                    + " (SessionOptions.withTls, --tls-keystore), or the client without");
        }
        for (int i = 0; i < Math.min(have, MAGIC.length); i++) {
            if (header[i] != MAGIC[i]) {
                throw otherProtocol();
            }
        }
    }

    /// Waits until the connection ends. Blocks.
    ///
    /// @return why it ended; a peer that sends more data counts as gone
    public SetupException awaitEnd() {
        try {
            int next = line().read(new byte[1], 0, 1, ByteLine.NEVER);
            return new SetupException(
                    Reason.PEER_CLOSED,
                    next < 0 ? peer + " went away without an orderly close" : peer + " sent data after the handshake");
        } catch (IOException e) {
            String why =
                    closed ? "this side has closed the connection to " + peer : peer + " went away: " + e.getMessage();
            return new SetupException(Reason.PEER_CLOSED, why, e);
        }
    }

    /// Tells the peer that the connection has ended, and leaves the rest to [#close]. Does not wait for the peer, and
    /// needs no new memory. Can be repeated.
    public void finish() {
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            // It has ended already.
        }
    }

    private SetupException broken(IOException e) {
        if (closed) {
            return new SetupException(Reason.CLOSED, "the connection to " + peer + " was closed by this side", e);
        }
        if (e instanceof ClosedByInterruptException) {
            return new SetupException(Reason.INTERRUPTED, "interrupted during the handshake with " + peer, e);
        }
        return new SetupException(Reason.PEER_CLOSED, "the connection to " + peer + " broke: " + e.getMessage(), e);
    }

    /// Closes the connection and wakes the threads that wait on it. Idempotent.
    @Override
    public void close() {
        closed = true;
        try {
            channel.close();
        } catch (IOException e) {
            // The connection is broken; nothing is left to do.
        }
    }

    private static String text(Duration timeout) {
        return timeout.toMillis() + " ms";
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    @Override
    public String toString() {
        return "connection to " + peer;
    }
}
