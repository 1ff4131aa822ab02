package io.rdmacomm.comm;

import io.rdmacomm.comm.endpoint.HandlerErrors;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.Threads;
import io.rdmacomm.comm.setup.RetryPause;
import io.rdmacomm.comm.setup.ServerAddress;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.statistics.SessionStatistics;
import io.rdmacomm.comm.statistics.SharedReceiveStatistics;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The common part of servers and clients: an open device, buffers that are registered with it once, and
/// endpoints. Thread-safe.
public abstract sealed class Session implements AutoCloseable permits ServerSession, ClientSession {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Session.class);

    private final SessionOptions options;
    private final SessionDevice device;
    private final @Nullable CompletionGroup callerGroup;
    private final SessionEndPoints endPoints = new SessionEndPoints();
    private final SessionObservation observation;
    private final HandlerErrors errors;
    private final ReentrantLock closing = new ReentrantLock();
    private final AtomicLong unnamed = new AtomicLong();
    private final Set<BufferPool> pools = ConcurrentHashMap.newKeySet();
    private volatile boolean open = true;
    private volatile @Nullable RdmaException lost;
    private boolean closed;

    /// @param options with the name that is sent to peers
    Session(SessionOptions options, SessionDevice device) {
        this.options = options;
        this.device = device;
        this.callerGroup = device.callerGroup();
        this.errors = new HandlerErrors(options.listener()::onError);
        this.observation = new SessionObservation(new View());
        SessionListener listener = options.listener();
        device.events().start(event -> errors.guard("onDeviceEvent", () -> listener.onDeviceEvent(event)));
        device.onLost(
                () -> lost("the program has closed the device context of " + this + "; close the session instead"));
    }

    /// The session no longer works: closes it.
    final void lost(String words) {
        RdmaException why = new RdmaException(words, null);
        LOGGER.log(Level.ERROR, words);
        lost = why;
        open = false;
        closeLater();
    }

    /// `options` completed with the defaults of the kind of session.
    ///
    /// @param role the first part of its name if it has none; the process number is the second
    /// @param threads the thread mode if none is set
    static SessionOptions completed(SessionOptions options, String role, ThreadMode threads) {
        SessionOptions named = options.name().isEmpty()
                ? options.withName(role + "-" + ProcessHandle.current().pid())
                : options;
        return named.threadMode() == null ? named.withThreadMode(threads) : named;
    }

    /// Its options, with its name and its thread mode, the port that a server listens on and the GID index
    /// that a client uses.
    public final SessionOptions options() {
        return options;
    }

    /// Its name, as sent to peers.
    public final String name() {
        return options.name();
    }

    /// The open device, for functions that this layer does not offer. It is closed with the session. The session
    /// reads its asynchronous events; see [SessionListener#onDeviceEvent]. If the program closes it, the session
    /// ends: its endpoints fail, and later calls throw a [ClosedException] with the cause.
    public final Context context() {
        return device.context();
    }

    /// The endpoints that are not closed, oldest first.
    public final List<EndPoint> endPoints() {
        return List.copyOf(endPoints.open());
    }

    /// The sum of the counters of all its endpoints, including closed ones.
    public final SessionStatistics statistics() {
        return endPoints.statistics(errors.count(), device.memory().bytes());
    }

    /// Allocates zeroed, page-aligned memory for `blockCount` blocks and registers it with the rights of
    /// [SessionOptions#access()].
    ///
    /// @param blockSize the length of a block in bytes, at least 1
    /// @throws IllegalArgumentException if an open buffer has that name, or a number is less than 1
    /// @throws io.rdmacomm.verbs.VerbException if there is no room; the message says what to raise
    /// @throws ClosedException if the session is closed
    public final RdmaBuffer allocate(String name, long blockSize, int blockCount) {
        return allocate(name, blockSize, blockCount, options().access());
    }

    /// Allocates a buffer of one block; see [#allocate(String, long, int)].
    ///
    /// @param bytes its length, at least 1
    public final RdmaBuffer allocate(String name, long bytes) {
        return allocate(name, bytes, 1);
    }

    /// Allocates a buffer with a generated name that is unique in this session, for memory that no peer looks up by
    /// name; see [#allocate(String, long, int)].
    public final RdmaBuffer allocate(long blockSize, int blockCount) {
        return allocate("unnamed-" + unnamed.incrementAndGet(), blockSize, blockCount);
    }

    /// Allocates memory with specific access rights; see [#allocate(String, long, int)].
    ///
    /// @param access its access rights in addition to local reading
    public final RdmaBuffer allocate(String name, long blockSize, int blockCount, Set<AccessFlag> access) {
        checkOpen();
        return device.allocate(name, blockSize, blockCount, access);
    }

    /// Registers the caller's memory as a buffer of one block. The caller frees it after closing the buffer.
    ///
    /// @param segment native memory, not of a confined arena, at least 1 byte
    /// @param access its access rights in addition to local reading
    /// @throws IllegalArgumentException if an open buffer has that name, or the segment is of the wrong kind
    /// @throws io.rdmacomm.verbs.VerbException if the device cannot register it; the message says what to raise
    /// @throws ClosedException if the session is closed
    public final RdmaBuffer wrap(String name, MemorySegment segment, Set<AccessFlag> access) {
        checkOpen();
        return device.wrap(name, segment, access);
    }

    /// Maps a part of a file as a buffer of one block: for writing with LOCAL_WRITE, otherwise read-only. Closing
    /// the buffer, or the session, unmaps it. The channel may be closed at once. The file never becomes longer by
    /// this.
    ///
    /// Peers READ the file where it is. On the software device a peer on the same host maps the file itself, so
    /// that a READ copies once and no thread of this process takes part; if it cannot open the file, a thread of
    /// this process serves it. Adapters lock the part in memory, unless the rights have ON_DEMAND.
    ///
    /// A file that others make shorter, and a full file system, fail the operations that need the missing part,
    /// with their endpoint, and never the process. See [io.rdmacomm.verbs.ProtectionDomain#map].
    ///
    /// @param channel open for reading, and with LOCAL_WRITE for writing
    /// @param offset where in the file the part begins
    /// @param length its length in bytes, at least 1
    /// @param access its access rights in addition to local reading. Peers need none here if they get theirs from
    ///        [EndPoint#announce(RdmaBuffer, Set)]
    /// @throws IllegalArgumentException if an open buffer has that name, or the offset or the length is out of
    ///         range
    /// @throws io.rdmacomm.verbs.UnsupportedVerbException for ON_DEMAND, if the device does not support it
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the file is shorter than the part, or for remote write
    ///         or atomic without local write; EACCES if the channel was not opened for what the rights need;
    ///         EBADF if it is closed; EFAULT if the device cannot register files; ENOMEM at a limit; others if
    ///         the system does not map it; the message says what to do
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted, which closes the channel
    /// @throws ClosedException if the session is closed
    public final RdmaBuffer map(String name, FileChannel channel, long offset, long length, Set<AccessFlag> access) {
        checkOpen();
        return device.map(name, channel, offset, length, access);
    }

    /// A pool of pieces of registered memory, of any size, with the rights of [SessionOptions#access()]. It is closed
    /// with the session, unless the program closes it before. Registers nothing yet.
    ///
    /// @param name its name in messages, at most 128 printable characters
    /// @throws ClosedException if the session is closed
    public final BufferPool pool(String name, PoolOptions options) {
        return pool(name, options, options().access());
    }

    /// A pool whose memory has specific access rights; see [#pool(String, PoolOptions)].
    ///
    /// @param access the access rights of its memory in addition to local reading
    public final BufferPool pool(String name, PoolOptions options, Set<AccessFlag> access) {
        BufferPool pool = new BufferPool(this, name, options, Set.copyOf(access));
        pools.add(pool);
        if (!open) {
            pool.close();
        }
        checkOpen();
        return pool;
    }

    /// The pool is closed.
    final void forget(BufferPool pool) {
        pools.remove(pool);
    }

    /// In thread mode CALLER, makes progress on all data channels of this session and runs their handlers. In the
    /// other modes library threads do that, and this returns 0. Never blocks, never allocates. Called in a handler,
    /// or while another thread polls, it returns 0.
    ///
    /// @return the number of completions
    public final int poll() {
        return callerGroup == null ? 0 : callerGroup.poll();
    }

    /// The state of the receives that the data channels share; null without [SessionOptions#sharedReceives()].
    public final @Nullable SharedReceiveStatistics sharedReceives() {
        SessionReceives receives = device.sharedReceives();
        return receives == null ? null : receives.statistics();
    }

    /// Makes progress as [#poll()] does, and sleeps if there is nothing to do, until the device reports a
    /// completion or the time is up. A loop that waits for the effect of a handler calls [#poll()] for a while, and
    /// then this. It may return early, and another thread that polls may take the completion, so the timeout should
    /// be short. In work mode POLLING, where completions raise no events, and in thread modes other than CALLER it
    /// returns at once.
    /// @param timeout how long to sleep at most
    /// @return the number of completions
    public final int awaitCompletions(Duration timeout) {
        return callerGroup == null ? 0 : callerGroup.pollOrSleep(timeout.toNanos());
    }

    /// Whether the calling thread is in a handler of one of the endpoints. A blocking call there would wait
    /// for itself, so it belongs in another thread. Never blocks.
    public final boolean isInHandler() {
        for (EndPoint endPoint : endPoints.open()) {
            if (endPoint.connection().isInHandler()) {
                return true;
            }
        }
        return false;
    }

    /// The number of exceptions from handlers and listeners of this session.
    public final long handlerErrors() {
        return errors.count();
    }

    /// Whether it is open: neither it nor its device context was closed.
    public final boolean isOpen() {
        return open;
    }

    /// Ends all waits, closes all endpoints (concurrently, each within the close deadline), and frees everything.
    /// Idempotent. Blocks until it is done. A handler of an endpoint must call [#closeLater()] instead, because
    /// this would wait for the handler.
    ///
    /// @throws IllegalStateException in a handler of an endpoint; the state is unchanged then
    @Override
    public final void close() {
        if (isInHandler()) {
            throw Failures.closedInHandler(this);
        }
        closing.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            open = false;
            // There is no second close, so each step runs even if another one fails.
            pools.forEach(pool -> Closer.step(pool, pool::close));
            Closer.step(this, this::stopAccepting);
            Closer.step(this, this::closeEndPoints);
            Closer.step(this, observation::close);
            device.close();
        } finally {
            closing.unlock();
        }
    }

    /// Calls [#close()] on another thread, and returns at once. For handlers.
    public final void closeLater() {
        Thread.ofVirtual().name("rdmacomm-close-" + name()).start(this::close);
    }

    /// Stops accepting peers and connecting to them, and wakes the threads that wait for one.
    abstract void stopAccepting();

    final SessionDevice device() {
        return device;
    }

    final void checkOpen() {
        if (!open) {
            RdmaException why = lost;
            String cause = why == null ? "" : ": " + why.getMessage();
            throw new ClosedException("session " + name() + " is closed" + cause, why);
        }
    }

    /// The handshake for endpoints with these settings.
    final Handshake handshake(SessionSettings complete) {
        return new Handshake(device, complete, errors);
    }

    /// Connects to the server in the settings, and keeps the endpoint. Retries while the server is too busy,
    /// until the connect deadline.
    ///
    /// @param complete with the GID index of this side
    final EndPoint reach(SessionSettings complete) {
        long deadline = System.nanoTime() + complete.deadlines().connect().toNanos();
        ServerAddress server = address(complete);
        Duration left = complete.deadlines().connect();
        while (true) {
            try {
                Duration now = left;
                boolean waits = complete.addressing().waitForServer();
                return connected(
                        handshake(complete),
                        server.name(),
                        () -> waits ? server.awaitServer(now) : server.connect(now));
            } catch (SetupFailedException e) {
                if (e.reason() != SetupFailedException.Reason.BUSY || !pause(deadline)) {
                    throw e;
                }
            }
            left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
        }
    }

    /// Connects to a server, and keeps the endpoint.
    final EndPoint connected(Handshake handshake, String server, Supplier<TcpConnector> reach) {
        Owner owner = new Owner();
        var _ = handshake.connect(server, reach, owner);
        return keep(owner.endPoint());
    }

    private static boolean pause(long deadline) {
        if (!RetryPause.before(deadline)) {
            return false;
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new RdmaInterruptedException("interrupted while the server was busy", null);
        }
        return true;
    }

    /// The server in the settings.
    static ServerAddress address(SessionSettings settings) {
        return new ServerAddress(
                settings.addressing().host(), settings.addressing().port());
    }

    /// `settings` with the port of the device and the GID index for this side's source address toward the
    /// server.
    static SessionSettings forConnection(SessionDevice device, SessionSettings settings) {
        return device.forConnection(
                settings,
                () -> address(settings).localAddress(settings.deadlines().connect()));
    }

    /// Keeps an endpoint until it is closed.
    final EndPoint keep(EndPoint endPoint) {
        endPoints.keep(endPoint);
        return endPoint;
    }

    /// Makes the session visible to observers, once it is completely open.
    final void show() {
        observation.begin();
    }

    /// An endpoint has ended: notifies the listener. On a separate virtual thread.
    void ended(EndPoint endPoint) {
        notifyListener("onEnd of " + endPoint, () -> options.listener().onEnd(endPoint, endPoint.failure()));
    }

    /// Notifies the listener and counts its exceptions.
    final void notifyListener(String what, Runnable call) {
        errors.guard(what, call);
    }

    final HandlerErrors errors() {
        return errors;
    }

    private void closeEndPoints() {
        List<Thread> closers = new ArrayList<>();
        for (EndPoint endPoint : endPoints.open()) {
            Closer.step(
                    endPoint,
                    () -> closers.add(Thread.ofVirtual()
                            .name("rdmacomm-close-" + endPoint.name())
                            .start(endPoint::close)));
        }
        closers.forEach(Threads::join);
    }

    @Override
    public final String toString() {
        return "session " + name();
    }

    /// Notified of the life cycle of one endpoint.
    final class Owner implements ConnectionOwner {
        private volatile @Nullable EndPoint endPoint;

        /// The endpoint, after [#made].
        EndPoint endPoint() {
            return Objects.requireNonNull(endPoint);
        }

        @Override
        public void made(PeerConnection connection) {
            endPoint = new EndPoint(Session.this, connection);
        }

        @Override
        public void ended() {
            Session.this.ended(endPoint());
        }

        @Override
        public void freed() {
            endPoints.remove(endPoint());
        }
    }

    /// The view of this session for counters and management beans.
    private final class View implements ObservedSession {
        @Override
        public String name() {
            return Session.this.name();
        }

        @Override
        public Context context() {
            return device.context();
        }

        @Override
        public int port() {
            return options.channel().connection().path().port();
        }

        @Override
        public SessionStatistics statistics() {
            return Session.this.statistics();
        }

        @Override
        public RegisteredMemory memory() {
            return device.memory();
        }

        @Override
        public List<PeerConnection> connections() {
            return endPoints.open().stream().map(EndPoint::connection).toList();
        }

        @Override
        public void observe(SessionObserver observer) {
            endPoints.observe(observer);
        }
    }
}
