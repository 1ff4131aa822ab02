package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Listeners;
import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnection;
import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.nio.rsocket.RsListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A [ServerSocketChannel] for rsockets, or for TCP if the rules leave the address to it.
public final class RdmaServerSocketChannel extends ServerSocketChannel implements SelectableRdma {
    private static final int DEFAULT_BACKLOG = 50;

    private final AddressRouter router;
    private final Family family;
    private final SocketOptionValues options = SocketOptionValues.ofServer();
    private final Listeners listeners = new Listeners();
    private final OrdinaryRegistrations ordinaryKeys = new OrdinaryRegistrations();
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final Object stateLock = new Object();
    private volatile @Nullable RsListener listener;
    private volatile @Nullable ServerSocketChannel ordinary;
    private @Nullable ServerSocket adaptor;

    /// A channel that is not bound.
    public RdmaServerSocketChannel(SelectorProvider provider, AddressRouter router, Family family) {
        super(provider);
        this.router = router;
        this.family = family;
    }

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress address, int backlog) throws IOException {
        synchronized (stateLock) {
            ensureOpen();
            if (isBound()) {
                throw new AlreadyBoundException();
            }
            InetSocketAddress wanted = address == null ? family.unspecified() : family.checked(address);
            int most = backlog < 1 ? DEFAULT_BACKLOG : backlog;
            RdmaService service = router.service("listen at", wanted);
            if (service == null || !listen(service, wanted, most)) {
                ordinary = listenOrdinary(wanted, most);
            }
        }
        listeners.changed();
        return this;
    }

    /// Opens a listening channel of the JDK. If that fails, the program may try another address.
    private ServerSocketChannel listenOrdinary(InetSocketAddress address, int backlog) throws IOException {
        ServerSocketChannel channel = family.openServerSocket();
        boolean bound = false;
        try {
            channel.configureBlocking(isBlocking());
            options.applyTo(channel);
            var _ = channel.bind(address, backlog);
            bound = true;
            return channel;
        } finally {
            if (!bound) {
                channel.close();
            }
        }
    }

    /// Listens on the device.
    ///
    /// @return false if it failed, and TCP must listen instead
    private boolean listen(RdmaService service, InetSocketAddress address, int backlog) throws IOException {
        try {
            RsListener opened = RsListener.open(service.device(), address, backlog, options.sizes());
            opened.add(listeners);
            listener = opened;
            service.succeeded();
            return true;
        } catch (IOException e) {
            service.failed(e);
            return false;
        }
    }

    private boolean isBound() {
        return listener != null || ordinary != null;
    }

    private void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(Timeouts.NONE);
    }

    /// Accepts a connection.
    ///
    /// @param nanos the longest wait of a blocking channel
    /// @return null if there is none
    @Nullable
    SocketChannel accept(long nanos) throws IOException {
        acceptLock.lock();
        try {
            ensureOpen();
            ServerSocketChannel channel = ordinary;
            if (channel != null) {
                SocketChannel accepted = acceptOrdinary(channel, nanos);
                return accepted == null ? null : new RdmaSocketChannel(provider(), router, accepted);
            }
            RsListener open = listener;
            if (open == null) {
                throw new NotYetBoundException();
            }
            boolean interrupted = isBlocking() && Thread.currentThread().isInterrupted();
            Established accepted = interrupted ? null : open.poll();
            if (accepted == null && isBlocking()) {
                boolean done = false;
                try {
                    begin();
                    accepted = open.await(nanos) ? open.poll() : null;
                    done = accepted != null || isOpen();
                } finally {
                    endBlocking(done);
                }
            }
            return accepted == null ? null : new RdmaSocketChannel(provider(), router, accepted, options);
        } finally {
            acceptLock.unlock();
        }
    }

    /// Ends what [#begin()] has begun. While this thread waited, a selector of the device may have consumed the
    /// interrupt that closes this channel.
    private void endBlocking(boolean done) throws AsynchronousCloseException {
        if (Thread.currentThread().isInterrupted()) {
            begin();
        }
        end(done);
    }

    private @Nullable SocketChannel acceptOrdinary(ServerSocketChannel channel, long nanos) throws IOException {
        try {
            if (nanos == Timeouts.NONE) {
                return channel.accept();
            }
            ServerSocket socket = channel.socket();
            socket.setSoTimeout(Timeouts.millis(nanos));
            return socket.accept().getChannel();
        } catch (SocketTimeoutException e) {
            return null;
        } finally {
            if (!channel.isOpen()) {
                close();
            }
        }
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        ensureOpen();
        return boundAddress();
    }

    /// The address that it is bound to; still available after the close.
    @Nullable
    SocketAddress boundAddress() {
        ServerSocketChannel channel = ordinary;
        RsListener open = listener;
        return channel != null ? channel.socket().getLocalSocketAddress() : open == null ? null : open.localAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        RsListener open;
        ServerSocketChannel channel;
        synchronized (stateLock) {
            open = listener;
            channel = ordinary;
        }
        if (open != null) {
            open.close();
        }
        if (channel != null) {
            channel.close();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        acceptLock.lock();
        try {
            synchronized (stateLock) {
                ensureOpen();
                ServerSocketChannel channel = ordinary;
                if (channel != null) {
                    // No other thread accepts there: this thread holds the lock.
                    ordinaryKeys.configureBlocking(channel, block);
                }
            }
        } finally {
            acceptLock.unlock();
        }
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.check(name, value);
        synchronized (stateLock) {
            ensureOpen();
            options.set(ordinary, name, value);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Objects.requireNonNull(name);
        options.checkSupported(name);
        ensureOpen();
        return options.get(ordinary, name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public ServerSocket socket() {
        synchronized (stateLock) {
            ServerSocket socket = adaptor;
            if (socket == null) {
                socket = new ChannelServerSocket(this);
                adaptor = socket;
            }
            return socket;
        }
    }

    @Override
    public int poll() {
        RsListener open = listener;
        return open != null && open.isReady() ? SelectionKey.OP_ACCEPT : 0;
    }

    @Override
    public int arm() {
        return poll();
    }

    @Override
    public @Nullable RsConnection connection() {
        return null;
    }

    @Override
    public @Nullable AbstractSelectableChannel ordinary() {
        return ordinary;
    }

    @Override
    public void addOrdinaryKey(SelectionKey key) {
        ordinaryKeys.add(key);
    }

    @Override
    public void add(Readiness listening) {
        listeners.add(listening);
    }

    @Override
    public void remove(Readiness listening) {
        listeners.remove(listening);
    }

    @Override
    public boolean isShared() {
        return listeners.areSeveral();
    }

    @Override
    public String toString() {
        ServerSocketChannel channel = ordinary;
        if (channel != null) {
            return channel.toString();
        }
        return RdmaServerSocketChannel.class.getName() + "[" + (isOpen() ? "open " + listener : "closed") + "]";
    }
}
