package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Route;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Establishes rsockets (`rconnect` and `raccept` in rsocket.c).
public final class RsConnector {
    private static final int MOST_RETRIES = 7;
    private static final int MOST_ATTEMPTS = 4;

    /// An established connection with its addresses.
    ///
    /// @param connection the connection
    /// @param local the address on this side
    /// @param remote the address of the peer
    public record Established(RsConnection connection, InetSocketAddress local, InetSocketAddress remote) {}

    private RsConnector() {}

    /// Connects to a peer. Blocks; suits virtual threads.
    ///
    /// @param options the options of the identifier, for example its local address
    /// @param timeout the longest wait for each of two steps
    /// @throws BindException if the local address is in use, or not one of the device
    /// @throws ConnectException if the peer cannot be reached, does not answer in time, or rejects the connection
    /// @throws ProtocolException if the peer is not an rsocket
    public static Established connect(
            SocketDevice device,
            InetSocketAddress address,
            IdentifierOptions options,
            BufferSizes sizes,
            Duration timeout)
            throws IOException {
        return SocketRecording.connect(false, address, () -> establish(device, address, options, sizes, timeout));
    }

    /// Retries if the peer drops the handshake, as a server does when it displaces it for another one.
    private static Established establish(
            SocketDevice device,
            InetSocketAddress address,
            IdentifierOptions options,
            BufferSizes sizes,
            Duration timeout)
            throws IOException {
        long begin = System.nanoTime();
        for (int attempt = 1; ; attempt++) {
            try {
                return attempt(device, address, options, sizes, timeout);
            } catch (DeadlineException e) {
                throw SocketFailures.ofConnecting(e);
            } catch (VerbException e) {
                boolean last = attempt == MOST_ATTEMPTS || System.nanoTime() - begin >= timeout.toNanos();
                if (last || !wasDropped(e)) {
                    throw SocketFailures.ofConnecting(e);
                }
            }
        }
    }

    /// Whether the peer ended the handshake without rejecting the connection.
    private static boolean wasDropped(VerbException failure) {
        return failure.errno().equals(Errno.ECONNRESET);
    }

    private static Established attempt(
            SocketDevice device,
            InetSocketAddress address,
            IdentifierOptions options,
            BufferSizes sizes,
            Duration timeout)
            throws IOException {
        try (Route route = device.manager().resolve(address, options, timeout)) {
            RsConnection connection = new RsConnection(device, sizes);
            boolean done = false;
            try {
                route.prepare(connection.queuePair());
                connection.postReceives();
                // On iWARP this side confirms the connection with an empty READ (RFC 6581).
                Connection connected = route.connect(
                        connection.queuePair(),
                        parameters(connection.privateData(device.canBeImmediate()))
                                .withDepths(1, 1),
                        timeout);
                connection.begin(connected, ConnectionData.parse(connected.privateData()));
                done = true;
                return new Established(connection, connected.localAddress(), connected.remoteAddress());
            } finally {
                if (!done) {
                    connection.abort();
                }
            }
        }
    }

    /// Accepts a request, or rejects it if the peer is not an rsocket.
    ///
    /// @param answering runs when all that is left is to wait for the peer
    /// @throws IOException if the peer is not an rsocket, is gone, or the system has no room for the connection
    static Established accept(
            SocketDevice device, ConnectionRequest request, BufferSizes sizes, Duration timeout, Runnable answering)
            throws IOException {
        return SocketRecording.connect(
                true, request.remoteAddress(), () -> answer(device, request, sizes, timeout, answering));
    }

    private static Established answer(
            SocketDevice device, ConnectionRequest request, BufferSizes sizes, Duration timeout, Runnable answering)
            throws IOException {
        try (request) {
            ConnectionData peer = ConnectionData.parse(request.privateData());
            RsConnection connection = new RsConnection(device, sizes);
            boolean done = false;
            try {
                request.prepare(connection.queuePair());
                connection.postReceives();
                answering.run();
                boolean immediate = peer.immediate() && device.canBeImmediate();
                Connection connected = request.accept(
                        connection.queuePair(),
                        parameters(connection.privateData(immediate))
                                .withDepths(request.responderResources(), request.initiatorDepth()),
                        timeout);
                connection.begin(connected, peer);
                done = true;
                return new Established(connection, request.localAddress(), request.remoteAddress());
            } finally {
                if (!done) {
                    connection.abort();
                }
            }
        } catch (VerbException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /// With the most retries: a message may find no receive for a while, as part of the flow control.
    private static ConnectionParameters parameters(byte[] privateData) {
        return ConnectionParameters.defaults().withPrivateData(privateData).withRetries(MOST_RETRIES, MOST_RETRIES);
    }
}
