package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Listeners;
import io.rdmacomm.nio.rsocket.Mapping;
import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnection;
import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A [SocketChannel] over an rsocket, or over TCP if the rules leave the address to it: its addresses, states and
/// options. A [SocketStream] moves the bytes. The order of checks and exceptions is that of the JDK's channel.
public final class RdmaSocketChannel extends SocketChannel implements SelectableRdma {
    private static final Duration LINGER = Duration.ofSeconds(10);

    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED
    }

    private final AddressRouter router;
    private final Family family;
    private final SocketOptionValues options;
    private final Listeners listeners = new Listeners();
    private final OrdinaryRegistrations ordinaryKeys = new OrdinaryRegistrations();
    private final RsocketStream rsocket = new RsocketStream(this);
    private final Object stateLock = new Object();
    private volatile State state = State.UNCONNECTED;
    private volatile SocketStream stream = rsocket;
    /// The channel of the JDK below a [TcpStream].
    private volatile @Nullable SocketChannel ordinary;
    private volatile @Nullable ConnectAttempt attempt;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;
    private volatile boolean inputClosed;
    private volatile boolean outputClosed;
    private @Nullable PortReservation reservation;
    private @Nullable Socket adaptor;

    /// A channel that is not connected.
    public RdmaSocketChannel(SelectorProvider provider, AddressRouter router, Family family) {
        super(provider);
        this.router = router;
        this.family = family;
        this.options = SocketOptionValues.ofSocket();
    }

    /// A channel that was accepted.
    RdmaSocketChannel(
            SelectorProvider provider, AddressRouter router, Established accepted, SocketOptionValues listening) {
        this(provider, router, Family.ANY);
        options.inherit(listening);
        rsocket.set(accepted.connection());
        this.local = accepted.local();
        this.remote = accepted.remote();
        this.state = State.CONNECTED;
        accepted.connection().add(listeners);
    }

    /// A channel of the JDK that was accepted.
    RdmaSocketChannel(SelectorProvider provider, AddressRouter router, SocketChannel accepted) {
        this(provider, router, Family.ANY);
        adopt(accepted);
        this.state = State.CONNECTED;
    }

    // ---- Addresses ----

    @Override
    public SocketChannel bind(@Nullable SocketAddress address) throws IOException {
        rsocket.lock();
        try {
            synchronized (stateLock) {
                ensureOpen();
                if (state == State.PENDING) {
                    throw new ConnectionPendingException();
                }
                if (local != null || ordinary != null) {
                    throw new AlreadyBoundException();
                }
                InetSocketAddress wanted = address == null ? family.unspecified() : family.checked(address);
                reservation = PortReservation.make(family, wanted, options);
                local = reservation.address();
            }
        } finally {
            rsocket.unlock();
        }
        return this;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        SocketChannel channel = ordinary;
        ensureOpen();
        return channel != null ? channel.getRemoteAddress() : remote;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        SocketChannel channel = ordinary;
        ensureOpen();
        return channel != null ? channel.getLocalAddress() : local;
    }

    /// The address of the peer; still available after the close.
    @Nullable
    SocketAddress lastRemote() {
        SocketChannel channel = ordinary;
        return channel != null ? channel.socket().getRemoteSocketAddress() : remote;
    }

    /// The address of this end; still available after the close.
    @Nullable
    SocketAddress lastLocal() {
        SocketChannel channel = ordinary;
        return channel != null ? channel.socket().getLocalSocketAddress() : local;
    }

    void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    // ---- Connecting ----

    @Override
    public boolean connect(SocketAddress address) throws IOException {
        return connect(address, Timeouts.NONE);
    }

    /// Connects.
    ///
    /// @param nanos the longest wait of a blocking channel
    boolean connect(SocketAddress address, long nanos) throws IOException {
        InetSocketAddress to = family.checked(address);
        rsocket.lock();
        try {
            synchronized (stateLock) {
                ensureOpen();
                if (state == State.CONNECTED) {
                    throw new AlreadyConnectedException();
                }
                if (state == State.PENDING) {
                    throw new ConnectionPendingException();
                }
                to = Addresses.remote(to);
                state = State.PENDING;
                remote = to;
            }
            RdmaService service = router.service(RdmaService.CONNECT, to);
            if (service == null) {
                return connectOrdinary(to, nanos);
            }
            ConnectAttempt begun = new ConnectAttempt(service, family, reservation, options, listeners);
            attempt = begun;
            begun.start();
            return isBlocking() && await(begun, nanos);
        } catch (IOException e) {
            close();
            throw e;
        } finally {
            rsocket.unlock();
        }
    }

    private boolean connectOrdinary(InetSocketAddress to, long nanos) throws IOException {
        SocketChannel channel;
        synchronized (stateLock) {
            // A close from here on also closes that channel.
            ensureOpen();
            channel = useOrdinary();
        }
        boolean connected = true;
        if (nanos == Timeouts.NONE) {
            connected = channel.connect(to);
        } else {
            channel.socket().connect(to, Timeouts.millis(nanos));
        }
        if (connected) {
            state = State.CONNECTED;
        }
        listeners.changed();
        return connected;
    }

    /// Delegates to a channel of the JDK.
    private SocketChannel useOrdinary() throws IOException {
        SocketChannel channel = ordinary;
        if (channel == null) {
            channel = reservation != null ? reservation.channel() : family.openSocket();
            channel.configureBlocking(isBlocking());
            options.applyTo(channel);
            adopt(channel);
        }
        return channel;
    }

    private void adopt(SocketChannel channel) {
        ordinary = channel;
        stream = new TcpStream(this, channel);
    }

    @Override
    public boolean finishConnect() throws IOException {
        rsocket.lock();
        try {
            ensureOpen();
            if (state == State.CONNECTED) {
                return true;
            }
            if (state == State.UNCONNECTED) {
                throw new NoConnectionPendingException();
            }
            SocketChannel channel = ordinary;
            if (channel != null) {
                boolean connected = channel.finishConnect();
                state = connected ? State.CONNECTED : state;
                return connected;
            }
            ConnectAttempt begun = attempt;
            if (begun == null || (!isBlocking() && !begun.isDone())) {
                return false;
            }
            return await(begun, Timeouts.NONE);
        } catch (IOException e) {
            close();
            throw e;
        } finally {
            rsocket.unlock();
        }
    }

    private boolean await(ConnectAttempt begun, long nanos) throws IOException {
        boolean done = false;
        try {
            begin();
            done = begun.await(nanos, this::isOpen);
        } finally {
            endBlocking(done);
        }
        Established established = begun.result();
        if (established == null) {
            take(begun.ordinary());
            return true;
        }
        synchronized (stateLock) {
            if (!isOpen()) {
                established.connection().abort();
                throw new ClosedChannelException();
            }
            rsocket.set(established.connection());
            local = established.local();
            remote = established.remote();
            // Only now: the program waits for this call to return true.
            state = State.CONNECTED;
        }
        established.connection().add(listeners);
        keepAlive();
        listeners.changed();
        return true;
    }

    /// Adopts the channel of the JDK that has connected because the device could not.
    private void take(SocketChannel connected) throws IOException {
        synchronized (stateLock) {
            if (!isOpen()) {
                connected.close();
                throw new ClosedChannelException();
            }
            connected.configureBlocking(isBlocking());
            // The options may have changed while it connected.
            options.applyTo(connected);
            adopt(connected);
            state = State.CONNECTED;
        }
        listeners.changed();
    }

    @Override
    public boolean isConnected() {
        return isOpen() && state == State.CONNECTED;
    }

    @Override
    public boolean isConnectionPending() {
        return isOpen() && state == State.PENDING;
    }

    // ---- Reading and writing ----

    @Override
    public int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target);
        return stream.read(target);
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        return stream.read(targets, offset, length);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        return stream.write(source);
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        return stream.write(sources, offset, length);
    }

    /// The bytes, for the socket of this channel and for files.
    SocketStream stream() {
        return stream;
    }

    /// The least number of bytes that can be read without waiting.
    int available() throws IOException {
        ensureOpen();
        return inputClosed ? 0 : stream.available();
    }

    /// Sends a byte of urgent data.
    ///
    /// @throws SocketException if this is an rsocket, which does not support it
    void sendUrgentData(int data) throws IOException {
        SocketStream bytes = stream;
        ensureOpen();
        ensureConnected();
        bytes.sendUrgentData(data);
    }

    /// Begins a call that may wait, so that a close and an interrupt end it.
    void beginBlocking() {
        begin();
    }

    /// Ends what [#beginBlocking()] has begun. While this thread waited, a selector of the device may have consumed the
    /// interrupt that closes this channel.
    void endBlocking(boolean done) throws AsynchronousCloseException {
        if (Thread.currentThread().isInterrupted()) {
            begin();
        }
        end(done);
    }

    // ---- Mapped memory ----

    /// Maps memory that the peer can write.
    ///
    /// @param offset the offset at which the peer writes to it
    /// @param bytes its length
    public Mapping map(long offset, long bytes) throws IOException {
        return rsocket.map(offset, bytes);
    }

    /// Writes to memory that the peer has mapped. A blocking channel writes all of the buffer.
    ///
    /// @param offset the offset of the peer's memory to write to
    public int write(ByteBuffer source, long offset) throws IOException {
        Objects.requireNonNull(source);
        return rsocket.place(source, offset);
    }

    // ---- The end ----

    @Override
    public SocketChannel shutdownInput() throws IOException {
        SocketStream bytes = stream;
        synchronized (stateLock) {
            ensureOpen();
            ensureConnected();
            bytes.shutdownInput();
            inputClosed = true;
        }
        bytes.wake();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        SocketStream bytes = stream;
        synchronized (stateLock) {
            ensureOpen();
            ensureConnected();
            bytes.shutdownOutput();
        }
        bytes.wake();
        return this;
    }

    private void ensureConnected() {
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    /// Whether it was connected, whether or not it is still open.
    boolean isEstablished() {
        return state == State.CONNECTED;
    }

    boolean isInputClosed() {
        return inputClosed;
    }

    boolean isOutputClosed() {
        return outputClosed;
    }

    /// The stream has closed the output, or is about to.
    void outputClosed() {
        outputClosed = true;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        SocketChannel channel;
        RsConnection open;
        ConnectAttempt begun;
        PortReservation bound;
        synchronized (stateLock) {
            channel = ordinary;
            open = rsocket.connection();
            begun = attempt;
            bound = reservation;
        }
        // Closes from the last to the first, even if one of them fails.
        try (SocketChannel _ = channel;
                Closeable _ = open == null ? null : () -> close(open);
                Closeable _ = begun == null ? null : () -> begun.abandon(open != null || channel != null);
                PortReservation _ = channel == null ? bound : null) {
            // The resources do all the work.
        }
    }

    /// A blocking channel with a linger time waits (socket(7)); otherwise a close must not block an event loop.
    private void close(RsConnection open) {
        int seconds = options.number(StandardSocketOptions.SO_LINGER);
        if (seconds == 0) {
            open.abort();
            return;
        }
        Duration timeout = seconds < 0 ? LINGER : Duration.ofSeconds(seconds);
        Thread closing = open.close(timeout);
        if (seconds > 0 && isBlocking()) {
            try {
                var _ = closing.join(timeout);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        rsocket.lock();
        try {
            ensureOpen();
            // A connect holds both locks, so the channel of the JDK does not change here. configureBlocking waits
            // for a read or write of it to end, so the state lock, which a close needs, must not be held.
            SocketChannel channel = ordinary;
            if (channel != null) {
                ordinaryKeys.configureBlocking(channel, block);
            }
        } finally {
            rsocket.unlock();
        }
    }

    // ---- Options ----

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.check(name, value);
        synchronized (stateLock) {
            ensureOpen();
            options.set(ordinary, name, value);
            if (SocketOptionValues.isKeepAlive(name)) {
                keepAlive();
            }
        }
        return this;
    }

    private void keepAlive() {
        RsConnection open = rsocket.connection();
        if (open != null) {
            open.keepAlive(options.keepAlive());
        }
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
    public Socket socket() {
        synchronized (stateLock) {
            Socket socket = adaptor;
            if (socket == null) {
                try {
                    socket = new ChannelSocket(this);
                } catch (SocketException e) {
                    throw new IllegalStateException("a socket without an implementation cannot fail", e);
                }
                adaptor = socket;
            }
            return socket;
        }
    }

    // ---- Selectors ----

    @Override
    public int poll() {
        return ready(rsocket.connection(), false);
    }

    @Override
    public int arm() {
        return ready(rsocket.connection(), true);
    }

    private int ready(@Nullable RsConnection open, boolean arm) {
        if (state == State.PENDING) {
            ConnectAttempt begun = attempt;
            return begun != null && begun.isDone() ? SelectionKey.OP_CONNECT : 0;
        }
        if (open == null) {
            return 0;
        }
        int ready = arm ? open.arm() : open.progress();
        int read = (ready & Readiness.READ) != 0 || inputClosed ? SelectionKey.OP_READ : 0;
        return (ready & Readiness.WRITE) != 0 ? read | SelectionKey.OP_WRITE : read;
    }

    /// The counters of the rsocket, if this is one and was connected.
    public Optional<ChannelStatistics> statistics() {
        return Optional.ofNullable(rsocket.connection()).map(RsConnection::statistics);
    }

    @Override
    public @Nullable RsConnection connection() {
        return rsocket.connection();
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
    public void add(Readiness listener) {
        listeners.add(listener);
    }

    @Override
    public void remove(Readiness listener) {
        listeners.remove(listener);
    }

    @Override
    public boolean isShared() {
        return listeners.areSeveral();
    }

    @Override
    public String toString() {
        SocketChannel channel = ordinary;
        if (channel != null) {
            return channel.toString();
        }
        String what = isOpen() ? state.toString().toLowerCase(Locale.ROOT) : "closed";
        return RdmaSocketChannel.class.getName() + "[" + what + " local=" + local + " remote=" + remote + "]";
    }
}
