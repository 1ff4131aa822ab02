package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ProgressWait;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The connection to one peer: an internal control channel, and any number of data channels. Thread-safe.
///
/// The failure of a queue pair or the death of the peer ends this endpoint only: everything in flight is
/// flushed, and later calls throw a [ClosedException] whose cause says why.
public final class EndPoint implements AutoCloseable {
    private static final Set<AccessFlag> OF_VIEWS = Set.of(AccessFlag.DIRECT_VIEW, AccessFlag.REMOTE_READ);

    private final Session session;
    private final PeerConnection connection;
    private final AtomicLong barriers = new AtomicLong();
    private final AtomicReference<@Nullable Object> attachment = new AtomicReference<>();

    /// @param session that it belongs to
    EndPoint(Session session, PeerConnection connection) {
        this.session = session;
        this.connection = connection;
    }

    PeerConnection connection() {
        return connection;
    }

    /// Its name in messages: the names of both sides and the peer's address.
    public String name() {
        return connection.name();
    }

    /// The name that the peer has given itself.
    public String peerName() {
        return connection.peerName();
    }

    /// The peer's TCP address and port as text.
    public String peerAddress() {
        return connection.peerAddress();
    }

    /// The address that the peer's TCP connection comes from or leads to.
    public InetAddress remoteAddress() {
        return connection.remoteAddress();
    }

    /// How its queue pairs were connected: NUMBERS or CONNECTION_MANAGER, the same at both sides.
    public Setup setup() {
        return connection.setup();
    }

    /// The duration of the setup, from the TCP connection to ready to send.
    public Duration setupTime() {
        return connection.setupTime();
    }

    /// The session that it belongs to: a [ServerSession], whether it accepted this endpoint or connected it to
    /// another server, or a [ClientSession]. For listeners, which may be called before [ServerSession#listen] has
    /// returned.
    public Session session() {
        return session;
    }

    /// Attaches an object of the program to this endpoint, such as the program's state for this peer; null
    /// removes it.
    ///
    /// @return the previous attachment; null if there was none
    public @Nullable Object attach(@Nullable Object object) {
        return attachment.getAndSet(object);
    }

    /// The object that was passed to [#attach] last; null if there is none. Never blocks.
    public @Nullable Object attachment() {
        return attachment.get();
    }

    /// The data channels.
    public List<RdmaChannel> channels() {
        return connection.data();
    }

    /// Data channel `index`, counted from 0.
    ///
    /// @throws IndexOutOfBoundsException if there is no such channel
    public RdmaChannel channel(int index) {
        return connection.data().get(index);
    }

    /// The sum of the counters of its data channels.
    public ChannelStatistics statistics() {
        return connection.statistics();
    }

    /// Announces a buffer to the peer, which finds it with [#peerBuffer], and gives the peer rights to it. The
    /// memory is registered once more, with a key for this announcement only. The key ends when the buffer is
    /// withdrawn or closed, and when this endpoint ends. So no other peer gets rights, and this peer loses them
    /// then. Blocks until the peer has received it.
    ///
    /// Until then, the peer may use its rights at any time, and this program does not notice it.
    ///
    /// @param rights one or more of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC, and DIRECT_VIEW with REMOTE_READ,
    ///         for [#directView]; LOCAL_WRITE may be among them, as in [AccessFlag#allRemote()], and has no effect
    /// @throws IllegalArgumentException if the buffer belongs to another session or is closed; if a buffer with the
    ///         same name was announced and not withdrawn; if `rights` contains other rights, or DIRECT_VIEW alone;
    ///         or if a right needs LOCAL_WRITE and the buffer lacks it
    /// @throws io.rdmacomm.verbs.VerbException if the device cannot register it; the message says what to
    ///         raise
    /// @throws DeadlineException if that took longer than the operation deadline; the peer then has no
    ///         rights
    /// @throws ClosedException if the endpoint is closed or has failed
    /// @throws RdmaInterruptedException if the thread was interrupted; the peer then has no rights
    public void announce(RdmaBuffer buffer, Set<AccessFlag> rights) {
        checkOwn(buffer);
        Set<AccessFlag> given = buffer.checkedRights(rights);
        connection.checkReady();
        RemoteBuffer seen = connection.announcements().add(buffer, given);
        boolean known = false;
        try {
            connection.control().announce(seen, operationTimeout());
            known = true;
        } finally {
            if (!known) {
                connection.announcements().remove(buffer);
            }
        }
    }

    /// Announces a buffer with its own key to the peer, which finds it with [#peerBuffer]. The rights are those of
    /// its allocation, and nothing is registered: every peer of the session that learns the key has them until the
    /// buffer is closed. For peers that trust each other, and for buffers that are announced to many peers; see
    /// [#announce(RdmaBuffer, Set)]. Blocks until the peer has received it.
    ///
    /// @throws IllegalArgumentException if the buffer belongs to another session, is closed, or gives peers no
    ///         right, or if another buffer was announced under its name
    /// @throws DeadlineException if that took longer than the operation deadline
    /// @throws ClosedException if the endpoint is closed or has failed
    /// @throws RdmaInterruptedException if the thread was interrupted
    public void announce(RdmaBuffer buffer) {
        checkOwn(buffer);
        if (!buffer.isForPeers()) {
            throw new IllegalArgumentException(buffer
                    + " gives peers no right; announce it with the rights that this peer gets, or allocate it with rights"
                    + " for all (SessionOptions.withAccess)");
        }
        connection.checkReady();
        connection.control().announce(connection.announcements().add(buffer), operationTimeout());
    }

    private void checkOwn(RdmaBuffer buffer) {
        if (!buffer.domain().equals(connection.device().domain())) {
            throw new IllegalArgumentException(buffer + " is of another session than this endpoint");
        }
        if (!buffer.isOpen()) {
            throw new IllegalArgumentException(buffer + " is closed");
        }
    }

    /// Withdraws a buffer: the peer no longer finds it, and then loses the rights that [#announce(RdmaBuffer, Set)]
    /// gave it. If the peer uses the buffer later, its operation fails with a protection error, and this endpoint
    /// fails too, so agree with the peer first. Rights by the buffer's own key last until the buffer is closed.
    /// Does nothing if the buffer was not announced. Blocks until the peer has received it.
    ///
    /// @throws DeadlineException if the peer did not receive it within the operation deadline; it has lost the
    ///         rights nevertheless
    /// @throws ClosedException if the endpoint fails meanwhile; the peer has lost the rights
    /// @throws RdmaInterruptedException if the thread was interrupted; the peer has lost the rights
    public void withdraw(RdmaBuffer buffer) {
        if (!connection.announcements().contains(buffer)) {
            return;
        }
        try {
            if (state() == EndPointState.READY) {
                connection.control().withdraw(buffer.name(), operationTimeout());
            }
        } finally {
            connection.announcements().remove(buffer);
        }
    }

    private Duration operationTimeout() {
        return connection.settings().deadlines().operation();
    }

    /// The buffer that the peer announced under that name, or null if it has not announced it. Never blocks.
    public @Nullable RemoteBuffer peerBuffer(String bufferName) {
        return connection.peerState().buffer(Printable.text(bufferName));
    }

    /// Waits until the peer has announced a buffer under that name. Blocks.
    ///
    /// @param timeout how long to wait
    /// @throws DeadlineException if it was not announced in time
    /// @throws ClosedException if the endpoint is closed or has failed, before or during the call
    /// @throws RdmaInterruptedException if the thread was interrupted
    public RemoteBuffer peerBuffer(String bufferName, Duration timeout) {
        String wanted = Printable.text(bufferName);
        RemoteBuffer buffer = connection.peerState().awaitBuffer(wanted, System.nanoTime() + timeout.toNanos());
        if (buffer == null) {
            connection.checkReady();
            throw new DeadlineException(
                    "the peer of " + name() + " has not announced a buffer '" + wanted + "' within "
                            + timeout.toMillis() + " ms",
                    null);
        }
        return buffer;
    }

    /// The buffers that the peer has announced, by name.
    public Map<String, RemoteBuffer> peerBuffers() {
        return connection.peerState().buffers();
    }

    /// Maps a peer's buffer into this process, if the peer is on this host and has announced the buffer with
    /// [AccessFlag#DIRECT_VIEW]: loads and stores of this program then reach the buffer at the speed of memory,
    /// without operations and their order. It can be written to if the peer gives REMOTE_WRITE, too. Blocks for
    /// as long as the system needs to map a file. Each call maps the buffer again, so keep the result.
    ///
    /// The rights are checked now, and not at each access: a view outlives the announcement and the buffer. If
    /// the peer withdraws or closes the buffer, dies or stops, the view stays and shows memory that nobody else
    /// changes, or that the peer uses for something else. It ends with this endpoint; later accesses throw
    /// [IllegalStateException]. [io.rdmacomm.verbs.QueuePair#directView] tells what happens to a truncated file.
    ///
    /// @return null if the peer is not on this host, its device or this one is not the software device, or it does
    ///         not give that right
    /// @throws IllegalArgumentException if the buffer belongs to another endpoint
    /// @throws io.rdmacomm.verbs.VerbException ENOMEM if the system cannot map the buffer
    /// @throws ClosedException if the endpoint is closed or has failed
    public @Nullable MemorySegment directView(RemoteBuffer buffer) {
        connection.checkReady();
        if (buffer.length() == 0 || !buffer.access().containsAll(OF_VIEWS)) {
            return null;
        }
        long address = buffer.check(0, buffer.length(), AccessFlag.REMOTE_READ, connection.number());
        try {
            return channel(0).adapter().queuePair().directView(address, buffer.length(), buffer.key());
        } catch (IllegalStateException e) {
            throw new ClosedException(name() + " was closed meanwhile", e);
        }
    }

    /// Waits until both sides have reached the same barrier. When this returns, everything that either side started
    /// earlier on the data channels has arrived, on every transport, except futures that were still queued: WRITEs
    /// are in place, and messages were passed to their handler or are queued for the receiver. Blocks.
    ///
    /// @param timeout how long to wait
    /// @throws DeadlineException if the peer did not reach the barrier in time, or if operations of this side did
    ///         not arrive in time; in the second case, this side has not reached the barrier either
    /// @throws ClosedException if the endpoint is closed or has failed, before or during the call
    /// @throws IllegalStateException if a handler calls this, because it would wait for itself
    /// @throws RdmaInterruptedException if the thread was interrupted
    public void barrier(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        connection.checkReady();
        connection.channels().refuseInHandler();
        ProgressWait wait = connection.channels().dataWait(deadline);
        if (!await(wait::untilArrived)) {
            connection.checkReady();
            throw new DeadlineException(
                    "operations on " + name() + " have not arrived within " + timeout.toMillis() + " ms", null);
        }
        long mine = barriers.incrementAndGet();
        connection.control().barrier(Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime())));
        if (!connection.peerState().awaitBarriers(mine, deadline)) {
            connection.checkReady();
            throw new DeadlineException(
                    "the peer of " + name() + " did not reach the barrier within " + timeout.toMillis() + " ms", null);
        }
        if (!await(wait::untilDelivered)) {
            throw new DeadlineException(
                    "handlers of " + name() + " have not finished within " + timeout.toMillis() + " ms", null);
        }
    }

    /// Ends the connection at once, as a failure of both sides: everything in flight is flushed, pending
    /// calls on this side end because of `why`, and the peer's endpoint fails with a [PeerFailedException]
    /// that contains the code and the message of `why`. Does nothing if the endpoint has failed, is closed,
    /// or its peer is done. Blocks until the peer has been notified, at most one second; in a handler, it
    /// returns at once and another thread notifies the peer.
    ///
    /// @param code a number for the peer's program
    /// @param why what happened
    public void abort(int code, RdmaException why) {
        connection.abort(code, why);
    }

    /// Its state.
    public EndPointState state() {
        return connection.state();
    }

    /// Why it failed; null if it has not.
    public @Nullable RdmaException failure() {
        return connection.failure();
    }

    /// Waits until the peer is done: it has closed its side in order, or died. By then, all its messages were
    /// passed to their handler or are queued for the receiver; a call in a handler does not wait for these
    /// messages. Blocks.
    ///
    /// @param timeout how long to wait
    /// @return whether the peer is done; see [#state()] and [#failure()] for how
    /// @throws RdmaInterruptedException if the thread was interrupted
    public boolean awaitPeerDone(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        boolean done = connection.peerState().awaitPeerFinished(deadline);
        if (done && !connection.isInHandler()) {
            var _ = await(connection.channels().dataWait(deadline)::untilDelivered);
        }
        return done;
    }

    private static boolean await(ProgressWait.Step wait) {
        try {
            return wait.await();
        } catch (InterruptedException e) {
            throw Failures.interrupted("waiting for the peer", e);
        }
    }

    /// Closes in order: rejects new operations, waits until those in flight have ended and have arrived at the
    /// peer, sends DONE, waits for the answer and until handlers have received the peer's last messages, then frees
    /// everything. If the peer is dead or does not answer within the close deadline, operations in flight are
    /// flushed, and [#failure()] reports the cause. Idempotent. Blocks. A handler must call [#closeLater()]
    /// instead, because this would wait for the handler.
    ///
    /// An interrupt only ends the wait: this returns with the interrupt flag set, and another thread continues
    /// until everything has arrived or the close deadline has passed. Until [#state()] is CLOSED or FAILED, devices
    /// use the memory of operations in flight, and handlers run in that thread if the thread mode is CALLER.
    /// Closing the session, or calling this again, waits for it. A thread that is already interrupted when it calls
    /// this waits nevertheless.
    ///
    /// @throws IllegalStateException in a handler, unless everything is freed already; the state is unchanged
    ///         then
    @Override
    public void close() {
        connection.close();
    }

    /// Calls [#close()] on another thread, and returns at once. For handlers; the state changes soon after.
    /// Closing the session, or calling [#close()] outside of a handler, waits until it is closed.
    public void closeLater() {
        connection.closeLater();
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
