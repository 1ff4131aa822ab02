package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;

/// The bytes of a channel over TCP: those of a channel of the JDK. An interrupt closes that one; then its owner closes,
/// too.
final class TcpStream implements SocketStream {
    private final RdmaSocketChannel owner;
    private final SocketChannel channel;

    TcpStream(RdmaSocketChannel owner, SocketChannel channel) {
        this.owner = owner;
        this.channel = channel;
    }

    private void closeTogether() throws IOException {
        if (!channel.isOpen()) {
            owner.close();
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        try {
            return channel.read(target);
        } finally {
            closeTogether();
        }
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        try {
            return channel.read(targets, offset, length);
        } finally {
            closeTogether();
        }
    }

    @Override
    public int readWithin(ByteBuffer target, long nanos) throws IOException {
        owner.ensureOpen();
        if (owner.isInputClosed()) {
            return -1;
        }
        try {
            Socket socket = channel.socket();
            socket.setSoTimeout(nanos == Timeouts.NONE ? 0 : Timeouts.millis(nanos));
            int offset = target.arrayOffset() + target.position();
            return socket.getInputStream().read(target.array(), offset, target.remaining());
        } catch (SocketTimeoutException e) {
            return 0;
        } catch (SocketException e) {
            // Another thread has closed the channel, or its input, before the read.
            if (!owner.isOpen()) {
                throw new AsynchronousCloseException();
            }
            if (owner.isInputClosed()) {
                return -1;
            }
            throw e;
        } finally {
            closeTogether();
        }
    }

    @Override
    public int available() throws IOException {
        return channel.socket().getInputStream().available();
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        try {
            return channel.write(source);
        } finally {
            closeTogether();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        try {
            return channel.write(sources, offset, length);
        } finally {
            closeTogether();
        }
    }

    /// With the system call for it.
    @Override
    public long transferFrom(FileChannel file, long position, long count) throws IOException {
        try {
            return file.transferTo(position, count, channel);
        } finally {
            closeTogether();
        }
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        channel.socket().sendUrgentData(data);
    }

    @Override
    public void shutdownInput() throws IOException {
        var _ = channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        var _ = channel.shutdownOutput();
        owner.outputClosed();
    }

    /// The shut-down of the JDK's channel has woken them.
    @Override
    public void wake() {}
}
