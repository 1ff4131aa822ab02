package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// A connection with a complete, unanswered request. Not thread-safe.
public final class MpaRequest {
    private final SocketChannel channel;
    private final MpaFrame frame;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;

    MpaRequest(SocketChannel channel, MpaFrame frame) throws IOException {
        this.channel = channel;
        this.frame = frame;
        this.localAddress = (InetSocketAddress) channel.getLocalAddress();
        this.remoteAddress = (InetSocketAddress) channel.getRemoteAddress();
    }

    /// The request.
    public MpaFrame frame() {
        return frame;
    }

    /// The address that was called.
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /// The address of the caller.
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /// Sends the reply. The connection then belongs to the caller; it is non-blocking.
    ///
    /// @throws IOException if the peer has disconnected or does not wait; the connection is closed then
    public SocketChannel reply(MpaFrame reply) throws IOException {
        try {
            checkWaiting();
            write(reply);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Rejects the request and ends the connection. Does nothing if the peer has disconnected.
    public void reject(byte[] privateData) {
        try (channel) {
            write(MpaNegotiation.rejection(frame, privateData));
            channel.shutdownOutput();
        } catch (IOException e) {
            // The peer has disconnected.
        }
    }

    /// Whether the peer no longer waits; the connection is closed then.
    boolean isAbandoned() {
        try {
            checkWaiting();
            return false;
        } catch (IOException e) {
            drop();
            return true;
        }
    }

    /// Ends the connection without an answer.
    public void drop() {
        try {
            channel.close();
        } catch (IOException e) {
            // It is closed anyway.
        }
    }

    /// Checks that the initiator still waits for the reply. It is not connected if it has disconnected, or keeps
    /// sending in violation of RFC 5044 7.1.2.
    private void checkWaiting() throws IOException {
        int count = channel.read(ByteBuffer.allocate(1));
        if (count != 0) {
            throw new IOException(count < 0 ? "the peer has disconnected" : "the peer did not wait for the reply");
        }
    }

    private void write(MpaFrame reply) throws IOException {
        ByteBuffer bytes = reply.encode();
        channel.write(bytes);
        if (bytes.hasRemaining()) {
            // This is the first write on this connection: the send buffer has room for some hundred bytes.
            throw new IOException("the reply does not fit into the send buffer");
        }
    }
}
