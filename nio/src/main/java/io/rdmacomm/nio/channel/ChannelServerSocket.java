package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The socket of a listening channel ([ServerSocketChannel#socket()]).
final class ChannelServerSocket extends ServerSocket {
    private final RdmaServerSocketChannel channel;
    private final AdaptorOptions options;
    private volatile int timeout;

    ChannelServerSocket(RdmaServerSocketChannel channel) {
        super(new NoSocketImpl());
        this.channel = channel;
        this.options = new AdaptorOptions(channel);
    }

    @Override
    public void bind(@Nullable SocketAddress address) throws IOException {
        bind(address, 0);
    }

    @Override
    public void bind(@Nullable SocketAddress address, int backlog) throws IOException {
        try {
            var _ = channel.bind(address, backlog);
        } catch (IOException | RuntimeException e) {
            throw AdaptorOptions.translated(e);
        }
    }

    private @Nullable InetSocketAddress local() {
        return (InetSocketAddress) channel.boundAddress();
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = local();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public Socket accept() throws IOException {
        int millis = timeout;
        if (millis > 0 && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        SocketChannel accepted;
        try {
            accepted = channel.accept(Timeouts.nanos(millis));
        } catch (IOException | RuntimeException e) {
            throw AdaptorOptions.translated(e);
        }
        if (accepted == null && millis == 0) {
            // The channel does not block, and no client has connected.
            throw new IllegalBlockingModeException();
        }
        if (accepted == null) {
            throw new SocketTimeoutException("Accept timed out");
        }
        return accepted.socket();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public boolean isBound() {
        return local() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        ensureOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeout = millis;
    }

    private void ensureOpen() throws SocketException {
        if (isClosed()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public int getSoTimeout() throws SocketException {
        ensureOpen();
        return timeout;
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setReceiveBufferSize(int bytes) throws SocketException {
        options.setSize(StandardSocketOptions.SO_RCVBUF, bytes, "size cannot be 0 or negative");
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // There is nothing to choose.
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        var _ = channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        InetSocketAddress local = local();
        return local == null ? "ServerSocket[unbound]" : "ServerSocket[addr=" + local + "]";
    }
}
