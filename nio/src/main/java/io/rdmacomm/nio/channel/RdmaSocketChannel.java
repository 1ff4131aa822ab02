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
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.FileChannel;
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
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A [SocketChannel] over an rsocket, or over TCP if the rules leave the address to it. The order of checks and
/// exceptions is that of the JDK's channel.
public final class RdmaSocketChannel extends SocketChannel implements SelectableRdma {
    private static final Duration LINGER = Duration.ofSeconds(10);

    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED
    }

    private final Transport transport;
    private final Family family;
    private final SocketOptionValues options;
    private final Listeners listeners = new Listeners();
    private final OrdinaryRegistrations ordinaryKeys = new OrdinaryRegistrations();
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final Spin readSpin = new Spin();
    private final Spin writeSpin = new Spin();
    private final Object stateLock = new Object();
    private volatile State state = State.UNCONNECTED;
    private volatile @Nullable SocketChannel ordinary;
    private volatile @Nullable RsConnection connection;
    private volatile @Nullable ConnectAttempt attempt;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;
    private volatile boolean inputClosed;
    private volatile boolean outputClosed;
    private @Nullable PortReservation reservation;
    private @Nullable Socket adaptor;

    /// A channel that is not connected.
    public RdmaSocketChannel(SelectorProvider provider, Transport transport, Family family) {
        super(provider);
        this.transport = transport;
        this.family = family;
        this.options = SocketOptionValues.ofSocket();
    }

    /// A channel that was accepted.
    RdmaSocketChannel(
            SelectorProvider provider, Transport transport, Established accepted, SocketOptionValues listening) {
        this(provider, transport, Family.ANY);
        options.inherit(listening);
        this.connection = accepted.connection();
        this.local = accepted.local();
        this.remote = accepted.remote();
        this.state = State.CONNECTED;
        accepted.connection().add(listeners);
    }

    /// A channel of the JDK that was accepted.
    RdmaSocketChannel(SelectorProvider provider, Transport transport, SocketChannel accepted) {
        this(provider, transport, Family.ANY);
        this.ordinary = accepted;
        this.state = State.CONNECTED;
    }

    // ---- Addresses ----

    @Override
    public SocketChannel bind(@Nullable SocketAddress address) throws IOException {
        readLock.lock();
        writeLock.lock();
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
            writeLock.unlock();
            readLock.unlock();
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

    private void ensureOpen() throws ClosedChannelException {
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
        readLock.lock();
        writeLock.lock();
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
            RdmaService service = transport.service(RdmaService.CONNECT, to);
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
            writeLock.unlock();
            readLock.unlock();
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
            ordinary = channel;
        }
        return channel;
    }

    @Override
    public boolean finishConnect() throws IOException {
        readLock.lock();
        writeLock.lock();
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
            writeLock.unlock();
            readLock.unlock();
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
            connection = established.connection();
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
            ordinary = connected;
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

    // ---- Reading ----

    @Override
    public int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target);
        SocketChannel channel = ordinary;
        if (channel == null) {
            return read(target, Timeouts.NONE);
        }
        try {
            return channel.read(target);
        } finally {
            closeWith(channel);
        }
    }

    /// Reads.
    ///
    /// @param nanos the longest wait of a blocking channel
    /// @return the number of bytes; 0 also if the time is up
    int read(ByteBuffer target, long nanos) throws IOException {
        readLock.lock();
        try {
            RsConnection open = connected();
            if (inputClosed) {
                return -1;
            }
            if (target.isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            if (!target.hasRemaining()) {
                return 0;
            }
            int bytes = isEndedBefore() ? 0 : open.read(target);
            if (bytes == 0 && isBlocking()) {
                boolean done = false;
                try {
                    begin();
                    bytes = awaitBytes(open, target, nanos);
                    done = bytes != 0 || inputClosed || isOpen();
                } finally {
                    endBlocking(done);
                }
            }
            return inputClosed && bytes == 0 ? -1 : bytes;
        } finally {
            readLock.unlock();
        }
    }

    /// Whether a blocking call must not start, because the thread is already interrupted.
    private boolean isEndedBefore() {
        return isBlocking() && Thread.currentThread().isInterrupted();
    }

    /// Reads for a socket with a timeout.
    ///
    /// @return 0 if the time is up
    int readWithin(ByteBuffer target, long nanos) throws IOException {
        SocketChannel channel = ordinary;
        if (channel == null) {
            return read(target, nanos);
        }
        ensureOpen();
        if (inputClosed) {
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
            if (!isOpen()) {
                throw new AsynchronousCloseException();
            }
            if (inputClosed) {
                return -1;
            }
            throw e;
        } finally {
            closeWith(channel);
        }
    }

    /// The least number of bytes that can be read without waiting.
    int available() throws IOException {
        ensureOpen();
        SocketChannel channel = ordinary;
        if (inputClosed) {
            return 0;
        }
        return channel != null
                ? channel.socket().getInputStream().available()
                : connected().available();
    }

    private int awaitBytes(RsConnection open, ByteBuffer target, long nanos) throws IOException {
        long begin = System.nanoTime();
        long left = nanos;
        while (isOpen() && !inputClosed && left > 0) {
            if (await(open, Readiness.READ, readSpin, left, this::isReadEnded)) {
                int bytes = isOpen() ? open.read(target) : 0;
                if (bytes != 0) {
                    return bytes;
                }
            } else if (Thread.currentThread().isInterrupted()) {
                break;
            }
            left = nanos - (System.nanoTime() - begin);
        }
        return 0;
    }

    private boolean isReadEnded() {
        return !isOpen() || inputClosed;
    }

    private boolean isWriteEnded() {
        return !isOpen() || outputClosed;
    }

    private static boolean await(RsConnection open, int wanted, Spin spin, long nanos, BooleanSupplier ended) {
        long spinNanos = spin.nanos();
        long begin = System.nanoTime();
        boolean ready = open.await(wanted, spinNanos, nanos, ended);
        if (spinNanos > 0) {
            if (System.nanoTime() - begin >= spinNanos) {
                spin.failed();
            } else if (ready) {
                spin.helped();
            }
        }
        return ready;
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        SocketChannel channel = ordinary;
        if (channel != null) {
            try {
                return channel.read(targets, offset, length);
            } finally {
                closeWith(channel);
            }
        }
        readLock.lock();
        try {
            RsConnection open = connected();
            if (inputClosed) {
                return -1;
            }
            int first = firstWithRoom(targets, offset, length);
            if (first < 0) {
                return 0;
            }
            long bytes = isEndedBefore() ? 0 : open.read(targets, offset, length);
            if (bytes == 0 && isBlocking()) {
                int some = read(targets[first]);
                if (some <= 0) {
                    return some;
                }
                long more = open.read(targets, offset, length);
                return some + Math.max(0, more);
            }
            return bytes;
        } finally {
            readLock.unlock();
        }
    }

    private static int firstWithRoom(ByteBuffer[] buffers, int offset, int length) {
        int first = -1;
        for (int i = offset + length - 1; i >= offset; i--) {
            if (buffers[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            first = buffers[i].hasRemaining() ? i : first;
        }
        return first;
    }

    /// Closes this channel too if an interrupt has closed the channel of the JDK.
    private void closeWith(SocketChannel channel) throws IOException {
        if (!channel.isOpen()) {
            close();
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

    private RsConnection connected() throws IOException {
        ensureOpen();
        RsConnection open = connection;
        if (open == null || state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
        return open;
    }

    // ---- Writing ----

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        SocketChannel channel = ordinary;
        if (channel != null) {
            try {
                return channel.write(source);
            } finally {
                closeWith(channel);
            }
        }
        writeLock.lock();
        try {
            RsConnection open = forWriting();
            int bytes = isEndedBefore() ? 0 : open.write(source);
            if (source.hasRemaining() && isBlocking()) {
                boolean done = false;
                try {
                    begin();
                    while (source.hasRemaining() && awaitRoom(open, Readiness.WRITE)) {
                        bytes += open.write(source);
                    }
                    done = !source.hasRemaining();
                } finally {
                    endWrite(done);
                }
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        SocketChannel channel = ordinary;
        if (channel != null) {
            try {
                return channel.write(sources, offset, length);
            } finally {
                closeWith(channel);
            }
        }
        writeLock.lock();
        try {
            RsConnection open = forWriting();
            long all = 0;
            for (int i = offset; i < offset + length; i++) {
                all += sources[i].remaining();
            }
            long bytes = isEndedBefore() ? 0 : open.write(sources, offset, length);
            if (bytes < all && isBlocking()) {
                try {
                    begin();
                    while (bytes < all && awaitRoom(open, Readiness.WRITE)) {
                        bytes += open.write(sources, offset, length);
                    }
                } finally {
                    endWrite(bytes == all);
                }
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    /// Sends a part of a file, with the system call for that if this is a TCP connection.
    ///
    /// @return the number of bytes; fewer than `count` if a non-blocking channel has no room for more
    long transferFrom(FileChannel file, long position, long count) throws IOException {
        SocketChannel channel = ordinary;
        if (channel != null) {
            try {
                return file.transferTo(position, count, channel);
            } finally {
                closeWith(channel);
            }
        }
        ByteBuffer buffer = FileBuffers.take();
        try {
            return transferFrom(file, position, count, buffer);
        } finally {
            FileBuffers.giveBack(buffer);
        }
    }

    private long transferFrom(FileChannel file, long position, long count, ByteBuffer buffer) throws IOException {
        var _ = connected();
        long sent = 0;
        try {
            while (sent < count) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), count - sent));
                if (file.read(buffer, position + sent) <= 0) {
                    break;
                }
                sent += write(buffer.flip());
                if (buffer.hasRemaining()) {
                    break;
                }
            }
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            if (sent == 0) {
                throw e;
            }
            // The next call reports the failure.
        }
        return sent;
    }

    /// Ends a write that has waited. Throws if the channel or its output was closed before the write was done.
    private void endWrite(boolean done) throws AsynchronousCloseException {
        endBlocking(done);
        if (!done && outputClosed) {
            throw new AsynchronousCloseException();
        }
    }

    private RsConnection forWriting() throws IOException {
        RsConnection open = connected();
        if (outputClosed) {
            throw new ClosedChannelException();
        }
        return open;
    }

    /// Sends a byte of urgent data.
    ///
    /// @throws SocketException if this is an rsocket, which does not support it
    void sendUrgentData(int data) throws IOException {
        SocketChannel channel = ordinary;
        ensureOpen();
        ensureConnected();
        if (channel == null) {
            throw new SocketException("an rsocket has no urgent data");
        }
        channel.socket().sendUrgentData(data);
    }

    private boolean awaitRoom(RsConnection open, int wanted) {
        while (isOpen() && !outputClosed && !Thread.currentThread().isInterrupted()) {
            if (await(open, wanted, writeSpin, Timeouts.NONE, this::isWriteEnded)) {
                return isOpen() && !outputClosed;
            }
        }
        return false;
    }

    // ---- Mapped memory ----

    /// Maps memory that the peer can write.
    ///
    /// @param offset the offset at which the peer writes to it
    /// @param bytes its length
    public Mapping map(long offset, long bytes) throws IOException {
        return rsocket().map(offset, bytes);
    }

    /// Writes to memory that the peer has mapped. A blocking channel writes all of the buffer.
    ///
    /// @param offset the offset of the peer's memory to write to
    public int write(ByteBuffer source, long offset) throws IOException {
        Objects.requireNonNull(source);
        writeLock.lock();
        try {
            RsConnection open = rsocket();
            int bytes = open.place(source, offset);
            if (source.hasRemaining() && isBlocking()) {
                boolean done = false;
                try {
                    begin();
                    while (source.hasRemaining() && awaitRoom(open, Readiness.PLACE)) {
                        bytes += open.place(source, offset + bytes);
                    }
                    done = !source.hasRemaining();
                } finally {
                    endBlocking(done || bytes > 0);
                }
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    private RsConnection rsocket() throws IOException {
        if (ordinary != null) {
            throw new UnsupportedOperationException(
                    this + " is a TCP connection, which cannot map memory; see the rules of RdmaSelectorProvider");
        }
        return forWriting();
    }

    // ---- The end ----

    @Override
    public SocketChannel shutdownInput() throws IOException {
        SocketChannel channel = ordinary;
        synchronized (stateLock) {
            ensureOpen();
            ensureConnected();
            if (channel != null) {
                var _ = channel.shutdownInput();
            }
            inputClosed = true;
        }
        wake();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        SocketChannel channel = ordinary;
        synchronized (stateLock) {
            ensureOpen();
            ensureConnected();
            RsConnection open = connection;
            if (channel != null) {
                var _ = channel.shutdownOutput();
            }
            // First: a writer that this wakes must see the reason.
            outputClosed = true;
            if (open != null) {
                open.shutdownOutput();
            }
        }
        wake();
        return this;
    }

    private void ensureConnected() {
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    private void wake() {
        RsConnection open = connection;
        if (open != null) {
            open.wake();
        }
    }

    boolean isInputClosed() {
        return inputClosed;
    }

    boolean isOutputClosed() {
        return outputClosed;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        SocketChannel channel;
        RsConnection open;
        ConnectAttempt begun;
        PortReservation bound;
        synchronized (stateLock) {
            channel = ordinary;
            open = connection;
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
        Duration patience = seconds < 0 ? LINGER : Duration.ofSeconds(seconds);
        Thread closing = open.close(patience);
        if (seconds > 0 && isBlocking()) {
            try {
                var _ = closing.join(patience);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            ensureOpen();
            // A connect holds both locks, so the channel of the JDK does not change here. configureBlocking waits
            // for a read or write of it to end, so the state lock, which a close needs, must not be held.
            SocketChannel channel = ordinary;
            if (channel != null) {
                ordinaryKeys.configureBlocking(channel, block);
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
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
        RsConnection open = connection;
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
        return ready(connection, false);
    }

    @Override
    public int arm() {
        return ready(connection, true);
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
        return Optional.ofNullable(connection).map(RsConnection::statistics);
    }

    @Override
    public @Nullable RsConnection connection() {
        return connection;
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
    public String toString() {
        SocketChannel channel = ordinary;
        if (channel != null) {
            return channel.toString();
        }
        String what = isOpen() ? state.toString().toLowerCase(Locale.ROOT) : "closed";
        return RdmaSocketChannel.class.getName() + "[" + what + " local=" + local + " remote=" + remote + "]";
    }
}
