package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The socket of a channel ([SocketChannel#socket()]).
final class ChannelSocket extends Socket {
    private final RdmaSocketChannel channel;
    private final AdaptorOptions options;
    private final SocketInput input;
    private final SocketOutput output;
    private volatile int timeout;

    ChannelSocket(RdmaSocketChannel channel) throws SocketException {
        super(new NoSocketImpl());
        this.channel = channel;
        this.options = new AdaptorOptions(channel);
        this.input = new SocketInput(channel, this::readNanos);
        this.output = new SocketOutput(channel);
    }

    private long readNanos() {
        return Timeouts.nanos(timeout);
    }

    @Override
    public void connect(SocketAddress endpoint) throws IOException {
        connect(endpoint, 0);
    }

    @Override
    public void connect(SocketAddress endpoint, int millis) throws IOException {
        if (endpoint == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (endpoint instanceof InetSocketAddress internet && internet.isUnresolved()) {
            ensureOpen();
            if (channel.isConnected()) {
                throw new SocketException("Already connected");
            }
            close();
            throw new UnknownHostException(internet.toString());
        }
        if (millis < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        try {
            InetSocketAddress to = Addresses.checked(endpoint);
            synchronized (channel.blockingLock()) {
                if (!channel.isBlocking()) {
                    throw new IllegalBlockingModeException();
                }
                var _ = channel.connect(to, Timeouts.nanos(millis));
            }
        } catch (IOException | RuntimeException e) {
            throw AdaptorOptions.translated(e);
        }
    }

    @Override
    public void bind(@Nullable SocketAddress address) throws IOException {
        try {
            var _ = channel.bind(address);
        } catch (IOException | RuntimeException e) {
            throw AdaptorOptions.translated(e);
        }
    }

    private @Nullable InetSocketAddress remote() {
        return (InetSocketAddress) channel.lastRemote();
    }

    private @Nullable InetSocketAddress local() {
        return (InetSocketAddress) channel.lastLocal();
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = remote();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = channel.isOpen() ? local() : null;
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = remote();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return remote();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    private void ensureConnected(boolean ended, String what) throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        if (ended) {
            throw new SocketException("Socket " + what + " is shutdown");
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        ensureConnected(channel.isInputClosed(), "input");
        return input;
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        ensureConnected(channel.isOutputClosed(), "output");
        return output;
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
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
    public void setTcpNoDelay(boolean on) throws SocketException {
        options.set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return options.get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        options.set(StandardSocketOptions.SO_LINGER, on ? seconds : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return options.get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        channel.sendUrgentData(data);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        options.set(JdkOptions.urgentDataInline(), on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        return options.get(JdkOptions.urgentDataInline());
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        ensureOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeout = millis;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        ensureOpen();
        return timeout;
    }

    private void ensureOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void setSendBufferSize(int bytes) throws SocketException {
        options.setSize(StandardSocketOptions.SO_SNDBUF, bytes, "Invalid send size");
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int bytes) throws SocketException {
        options.setSize(StandardSocketOptions.SO_RCVBUF, bytes, "Invalid receive size");
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return options.get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int value) throws SocketException {
        options.set(StandardSocketOptions.IP_TOS, value);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return options.get(StandardSocketOptions.IP_TOS);
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
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // There is nothing to choose.
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public void shutdownInput() throws IOException {
        shutDown(channel::shutdownInput);
    }

    @Override
    public void shutdownOutput() throws IOException {
        shutDown(channel::shutdownOutput);
    }

    private interface Shutdown {
        SocketChannel run() throws IOException;
    }

    private static void shutDown(Shutdown shutdown) throws IOException {
        try {
            var _ = shutdown.run();
        } catch (RuntimeException e) {
            throw AdaptorOptions.translated(e);
        }
    }

    @Override
    public boolean isInputShutdown() {
        return channel.isInputClosed();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.isOutputClosed();
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
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
    public String toString() {
        return channel.isConnected()
                ? "Socket[addr=" + getInetAddress() + ",port=" + getPort() + ",localport=" + getLocalPort() + "]"
                : "Socket[unconnected]";
    }
}
