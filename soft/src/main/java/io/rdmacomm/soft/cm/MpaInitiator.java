package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.MpaTerms;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Opens one MPA connection, in the caller's thread. [#close()] from another thread ends it at once, and so does
/// an interrupt.
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
    /// @param own what this side wants
    /// @param privateData for the peer's program
    /// @param timeoutNanos how long all of it may take
    /// @throws MpaRejectedException if the responder refused
    /// @throws io.rdmacomm.soft.iwarp.MpaException if it broke the rules
    /// @throws SocketTimeoutException if it took too long
    /// @throws java.net.ConnectException if no program listens there
    /// @throws AsynchronousCloseException if it was closed meanwhile, or the thread was interrupted
    /// @throws IOException if the network failed in another way
    public MpaConnection connect(MpaNegotiation own, byte[] privateData, long timeoutNanos) throws IOException {
        long deadline = System.nanoTime() + timeoutNanos;
        try {
            return attempt(own, own.request(privateData).askingForHandshake(), deadline);
        } catch (SilentEndException e) {
            return attempt(own, own.plainRequest(privateData), deadline);
        }
    }

    /// Ends the attempt; a thread in [#connect] gets an [AsynchronousCloseException]. An established connection is
    /// not affected.
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
            Socket socket = channel.socket();
            socket.connect(remote, millisUntil(deadline));
            ByteBuffer bytes = request.encode();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            MpaFrame reply = read(socket, deadline);
            if (reply.isRejected()) {
                throw new MpaRejectedException(reply.privateData());
            }
            MpaTerms terms = own.initiatorTerms(request, reply);
            channel.configureBlocking(false);
            release(channel);
            return new MpaConnection(channel, reply, terms);
        } catch (IOException | RuntimeException e) {
            closeQuietly(channel);
            checkWanted();
            throw e;
        }
    }

    /// Replaces a failure whose reason is that this was closed or the thread interrupted.
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

    private synchronized void release(SocketChannel channel) throws IOException {
        current = null;
        if (closed || !channel.isOpen()) {
            throw new AsynchronousCloseException();
        }
    }

    private static MpaFrame read(Socket socket, long deadline) throws IOException {
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REPLY);
        InputStream in = socket.getInputStream();
        while (!reader.advance()) {
            ByteBuffer into = reader.buffer();
            // The deadline is for the whole reply: single bytes do not extend it.
            socket.setSoTimeout(millisUntil(deadline));
            readSome(in, into);
        }
        return reader.frame();
    }

    private static void readSome(InputStream in, ByteBuffer into) throws IOException {
        boolean nothingYet = into.position() == 0;
        byte[] some = new byte[into.remaining()];
        try {
            int count = in.read(some);
            if (count >= 0) {
                into.put(some, 0, count);
                return;
            }
        } catch (SocketException e) {
            if (nothingYet) {
                throw new SilentEndException(e.getMessage());
            }
            throw e;
        }
        if (nothingYet) {
            throw new SilentEndException("the peer disconnected without a reply");
        }
        throw new EOFException("the peer disconnected during its reply");
    }

    private static int millisUntil(long deadline) throws SocketTimeoutException {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw new SocketTimeoutException("no reply in time");
        }
        return (int) Math.min(TimeUnit.NANOSECONDS.toMillis(left) + 1, Integer.MAX_VALUE);
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It is closed anyway.
        }
    }

    /// The peer ended the connection before the first byte of a reply.
    private static final class SilentEndException extends IOException {
        private static final long serialVersionUID = 1L;

        SilentEndException(@Nullable String message) {
            super(message);
        }
    }
}
