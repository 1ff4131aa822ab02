package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.MpaTerms;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// Opens one MPA connection on the caller's thread. [#close()] from another thread ends it at once, and so does an
/// interrupt.
public final class MpaInitiator implements AutoCloseable {
    private final InetSocketAddress remote;
    private final IdentifierOptions options;
    private @Nullable SocketChannel current;
    private boolean closed;

    /// For a connection to `remote`.
    public MpaInitiator(InetSocketAddress remote, IdentifierOptions options) {
        this.remote = remote;
        this.options = options;
    }

    /// Connects, sends the request, and waits for the reply. Blocks. If the peer disconnects without a reply to
    /// revision 2, tries once more with revision 1, as existing adapters do.
    ///
    /// @param own the terms that this side asks for
    /// @param privateData for the peer's program
    /// @param timeoutNanos for the whole exchange
    /// @throws MpaRejectedException if the responder rejected the connection
    /// @throws io.rdmacomm.soft.iwarp.MpaException if the responder violated the protocol
    /// @throws java.net.BindException if the local address of the options is in use
    /// @throws SocketTimeoutException if it took too long
    /// @throws java.net.ConnectException if no program listens there
    /// @throws AsynchronousCloseException if it was closed meanwhile, or the thread was interrupted
    /// @throws IOException if the network failed in another way
    public MpaConnection connect(MpaNegotiation own, byte[] privateData, long timeoutNanos) throws IOException {
        long deadline = System.nanoTime() + timeoutNanos;
        try {
            return attempt(own, own.request(privateData).askingForHandshake(), deadline);
        } catch (MpaExchange.SilentEndException e) {
            return attempt(own, own.plainRequest(privateData), deadline);
        }
    }

    /// Ends the attempt, or closes its connection unless that was released; a thread in [#connect] gets an
    /// [AsynchronousCloseException].
    @Override
    public synchronized void close() {
        closed = true;
        SocketChannel channel = current;
        if (channel != null) {
            closeQuietly(channel);
        }
    }

    private MpaConnection attempt(MpaNegotiation own, MpaFrame request, long deadline) throws IOException {
        SocketChannel channel = open();
        try {
            SocketOptions.set(channel, options);
            SocketOptions.bind(channel, options);
            Socket socket = channel.socket();
            socket.connect(remote, MpaExchange.millisUntil(deadline));
            ByteBuffer bytes = request.encode();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            MpaFrame reply = MpaExchange.await(socket, MpaFrame.Kind.REPLY, deadline);
            if (reply.isRejected()) {
                throw new MpaRejectedException(reply.privateData());
            }
            MpaTerms terms = own.initiatorTerms(request, reply);
            channel.configureBlocking(false);
            return new MpaConnection(channel, reply, terms);
        } catch (IOException | RuntimeException e) {
            closeQuietly(channel);
            checkWanted();
            throw e;
        }
    }

    /// Throws instead of a failure that a close or an interrupt caused.
    private synchronized void checkWanted() throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new ClosedByInterruptException();
        }
        if (closed) {
            throw new AsynchronousCloseException();
        }
    }

    private synchronized SocketChannel open() throws IOException {
        if (closed) {
            throw new AsynchronousCloseException();
        }
        SocketChannel channel = SystemSockets.openSocket();
        current = channel;
        return channel;
    }

    /// Gives up the connection that [#connect] has made: it belongs to a queue pair from now on.
    ///
    /// @throws AsynchronousCloseException if this was closed meanwhile
    /// @throws IOException if the queue pair has closed it, because the peer has ended it at once
    synchronized void release() throws IOException {
        SocketChannel made = current;
        if (closed || made == null) {
            throw new AsynchronousCloseException();
        }
        if (!made.isOpen()) {
            throw new IOException("it ended at once");
        }
        current = null;
    }

    /// Closes the connection that [#connect] has made, unless it was released.
    synchronized void drop() {
        SocketChannel made = current;
        if (made != null) {
            closeQuietly(made);
        }
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It is closed anyway.
        }
    }
}
