package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ProgressWait;
import io.rdmacomm.comm.endpoint.EndPointLife;
import io.rdmacomm.comm.endpoint.EndPointLife.Action;
import io.rdmacomm.comm.endpoint.EndPointLife.Event;
import io.rdmacomm.comm.endpoint.EndPointLife.State;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.setup.EndPointInfo;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.PeerLocation;
import io.rdmacomm.comm.setup.QueuePairConnector;
import io.rdmacomm.comm.setup.SetUpException;
import io.rdmacomm.comm.setup.SetUpOffer;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.Terms;
import io.rdmacomm.comm.statistics.ChannelStatistics;
import io.rdmacomm.comm.text.Printable;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The connection to one peer: a control channel of the library's own, and any number of data channels.
/// Thread-safe.
///
/// The failure of a queue pair or the death of the peer ends this endpoint and no other: everything in flight
/// is flushed, and later calls throw a [ClosedException] whose cause says why.
public final class EndPoint implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(EndPoint.class);
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final Duration FLUSH = Duration.ofMillis(200);
    private static final Duration ABORT = Duration.ofSeconds(1);

    private final long number = NUMBERS.incrementAndGet();
    private final SessionDevice device;
    private final SessionSettings settings;
    private final String peerAddress;
    private final HandlerErrors errors;
    private final EndPointOwner owner;
    private final String name;
    private final EndPointLife<CommException> life = new EndPointLife<>();
    private final PeerState peer = new PeerState(life);
    private final EndPointChannels channels;
    private final List<RdmaChannel> data;
    private final ControlChannel control;
    private final CreditReturns credits;
    private final Announcements announcements = new Announcements();
    private final AtomicLong barriers = new AtomicLong();
    /// Nothing is said on the control channel after this side has said that it is done.
    private final ReentrantLock saying = new ReentrantLock();

    private final AtomicReference<@Nullable Thread> teller = new AtomicReference<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Object> attachment = new AtomicReference<>();
    // Set before the endpoint is published.
    private @Nullable TcpConnector connector;
    private Terms terms = Terms.NONE;
    private String peerName = "";
    private Duration setUpTime = Duration.ZERO;
    private SetUp setUp = SetUp.AUTOMATIC;

    /// Creates the channels; nothing is connected yet.
    ///
    /// @param errors receives the exceptions of handlers
    /// @param owner is told when it has ended, and when it is freed
    EndPoint(
            SessionDevice device,
            SessionSettings settings,
            String peerAddress,
            int dataChannels,
            HandlerErrors errors,
            EndPointOwner owner) {
        this.device = device;
        this.settings = settings;
        this.peerAddress = peerAddress;
        this.errors = errors;
        this.owner = owner;
        this.name = settings.name() + "-" + peerAddress;
        EndPointEvents events = new ChannelEvents();
        this.channels = new EndPointChannels(device, settings, name, number, dataChannels, events);
        this.data = channels.data();
        this.control = new ControlChannel(
                channels.control(), channels::outgoing, number, settings.trust().limits().buffers(), peer, events);
        this.credits = new CreditReturns(
                name, control, data, this::unlessDone, settings.deadlines().operation());
    }

    /// The description of this side for the peer.
    EndPointInfo info(SetUpOffer setUp) {
        return new EndPointInfo(settings.name(), device.port().linkLayer(), setUp, channels.infos());
    }

    /// Brings up all channels and waits until both sides can send.
    ///
    /// @param queuePairs connects them
    /// @param peerFirst whether to wait for the peer before threads, receives and their memory are made
    /// @throws SetUpFailedException if the peer is not compatible
    void bringUp(TcpConnector connection, EndPointInfo other, QueuePairConnector queuePairs, boolean peerFirst) {
        connector = connection;
        setUp = queuePairs.equals(QueuePairConnector.BY_NUMBERS) ? SetUp.NUMBERS : SetUp.CONNECTION_MANAGER;
        int count = channels.all().size();
        if (other.channels().size() != count) {
            throw new SetUpFailedException(
                    SetUpFailedException.Reason.PROTOCOL_VIOLATED,
                    peerAddress + " has " + other.channels().size() + " channels where " + count + " were agreed on",
                    null);
        }
        peerName = other.name();
        connection.limitSilence(settings.deadlines().silence());
        if (peerFirst) {
            connection.receive(FrameType.READY, settings.deadlines().handshake());
        }
        channels.connect(other.channels(), queuePairs);
        connection.send(FrameType.READY, ByteBuffer.allocate(0));
        if (!peerFirst) {
            connection.receive(FrameType.READY, settings.deadlines().handshake());
        }
        channels.all().forEach(RdmaChannel::open);
        switch (life.on(Event.SET_UP)) {
            case STOP -> channels.stop(failureOr("it failed while it was set up"));
            case ANSWER -> answer();
            default -> {}
        }
        start("watch", () -> watch(connection));
    }

    void setUpTime(Duration value) {
        setUpTime = value;
    }

    void terms(Terms value) {
        terms = value;
    }

    /// The version and the features of the protocol with the peer.
    Terms terms() {
        return terms;
    }

    boolean isInHandler() {
        return channels.isInHandler();
    }

    /// Frees everything after a failed setup.
    void abandon() {
        if (life.on(Event.ABANDON) == Action.FREE) {
            free();
        }
    }

    private Thread thread(String what, Runnable task) {
        return Thread.ofVirtual().name("rdmacomm-" + what + "-" + name).unstarted(task);
    }

    private void start(String what, Runnable task) {
        thread(what, task).start();
    }

    /// After the handshake the connection only serves to detect the end of the peer's process.
    private void watch(TcpConnector connection) {
        try {
            CommException end = Failures.ofSetUp(connection.awaitEnd());
            if (!life.isPeerSilent()) {
                CompletionGroup group = device.control();
                group.runExclusively(group::drain);
            }
            fail(withPeerName(end));
        } catch (RuntimeException | Error e) {
            control.channel().adapter().condemn(e);
        }
    }

    /// A channel has failed. If the peer is gone, the last that it has said may have arrived without anybody
    /// having looked at it: that it is done and right to go, or why it has aborted.
    private void lost(CommException failure) {
        CommException why = withPeerName(failure);
        CompletionGroup group = device.control();
        if (life.state() == State.CLOSING_DONE_SAID) {
            group.submit(() -> {
                group.drain();
                fail(why);
            });
            return;
        }
        if (why instanceof PeerClosedException) {
            group.catchUp();
        }
        // Now and not later: the failed operation ends when this returns, and its program may look at the state.
        fail(why);
    }

    /// People know a peer by its name; those who detect its end know only an address or a queue pair.
    private CommException withPeerName(CommException failure) {
        if (!(failure instanceof PeerClosedException) || peerName.isEmpty()) {
            return failure;
        }
        PeerClosedException named =
                new PeerClosedException(peerName + " is gone: " + failure.getMessage(), failure.getCause());
        named.setStackTrace(failure.getStackTrace());
        return named;
    }

    private void fail(CommException why) {
        Action starts = life.fail(why);
        if (starts == Action.END && why instanceof PeerProtocolException) {
            // Otherwise the peer would notice nothing until this side is closed. Telling it takes time, and the caller
            // may be a handler.
            completely(() -> start(
                    "abort",
                    () -> completely(() -> {
                        tellAbort(PeerAbortedException.PROTOCOL_VIOLATION, String.valueOf(why.getMessage()));
                        end();
                    })));
        } else if (starts == Action.END || starts == Action.END_AGAIN) {
            end();
        }
    }

    private void end() {
        completely(() -> {
            CommException why = Objects.requireNonNull(life.failure());
            channels.stop(why);
            LOGGER.log(Level.WARNING, "endpoint " + name + " failed: " + why.getMessage());
            Failures.record(name, why);
            start(
                    "flush",
                    () -> completely(() -> {
                        channels.end(deadline(FLUSH), false);
                        announcements.end();
                    }));
            tellEnd();
        });
    }

    /// Runs a part of what follows from the failure. If there is no memory for that, the thread that polls the control
    /// channel runs all of it once more.
    private void completely(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            life.on(Event.INCOMPLETE);
            control.channel().adapter().condemn(e);
        }
    }

    private static long deadline(Duration timeout) {
        return System.nanoTime() + timeout.toNanos();
    }

    private CommException failureOr(String words) {
        CommException why = life.failure();
        return why != null ? why : new ClosedException("endpoint " + name + " is not ready: " + words, null);
    }

    private void tellEnd() {
        Thread thread = thread("end", () -> owner.ended(this));
        if (life.state() != State.ABANDONED && teller.compareAndSet(null, thread)) {
            boolean told = false;
            try {
                thread.start();
                told = true;
            } finally {
                if (!told) {
                    teller.set(null);
                }
            }
        }
    }

    /// The thread that tells the owner of the end; null before the end.
    @Nullable
    Thread teller() {
        return teller.get();
    }

    /// Whether this side has begun to close it before it had ended in another way.
    boolean isClosedHere() {
        return life.isClosedHere();
    }

    /// Whether it is closed and everything is freed, failed or not.
    boolean isFreed() {
        State now = life.state();
        return now == State.CLOSED || now == State.FAILED_FREED;
    }

    /// @throws ClosedException if it is not ready
    void checkReady() {
        EndPointState now = state();
        if (now != EndPointState.READY) {
            CommException why = life.failure();
            if (now == EndPointState.PEER_DONE) {
                throw new PeerDoneException("the peer of " + name + " is done");
            }
            throw new ClosedException(
                    why == null
                            ? "endpoint " + name + " is " + now
                            : "endpoint " + name + " has failed: " + why.getMessage(),
                    why);
        }
    }

    /// The peer is done first: ends what is in flight, answers, and lets what has arrived be received.
    private void answer() {
        PeerDoneException end = new PeerDoneException("the peer of " + name + " is done");
        for (RdmaChannel channel : data) {
            channel.refuse(end);
            channel.endMessages(end);
        }
        start("done", () -> {
            long deadline = deadline(settings.deadlines().close());
            try {
                var _ = channels.dataWait(deadline).untilArrived();
            } catch (InterruptedException e) {
                // This thread is never interrupted; it ends in an orderly way anyway.
                Thread.currentThread().interrupt();
            }
            sayDone(deadline);
            announcements.end();
            tellEnd();
        });
    }

    /// Says so, and returns when that has been said: what follows may be the end of the connection. Says it
    /// once, unless an interrupt has left open whether it was said; a peer that hears it twice does not mind.
    ///
    /// @throws CommInterruptedException if the thread was interrupted
    private void sayDone(long deadline) {
        saying.lock();
        try {
            if (life.on(Event.SAY_DONE) == Action.SAY_DONE) {
                control.done(Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime())));
            }
        } catch (CommInterruptedException e) {
            life.on(Event.SAYING_INTERRUPTED);
            throw e;
        } catch (CommException | IllegalStateException e) {
            LOGGER.log(Level.DEBUG, () -> "endpoint " + name + " could not say that it is done: " + e.getMessage());
        } finally {
            saying.unlock();
        }
    }

    /// Says something on the control channel, if that is not too late.
    private void unlessDone(Runnable say) {
        saying.lock();
        try {
            if (life.state() == State.READY) {
                say.run();
            }
        } finally {
            saying.unlock();
        }
    }

    /// Takes no more operations. Never blocks.
    private void refuse(boolean peerDone) {
        ClosedException refusal = new ClosedException("endpoint " + name + " is closed", null);
        data.forEach(channel -> channel.refuse(refusal));
        if (peerDone) {
            data.forEach(channel -> channel.endMessages(refusal));
        }
    }

    /// Waits for the orderly end. After an interrupt, another call goes on.
    ///
    /// @throws InterruptedException if the thread was interrupted while it waited
    /// @throws CommInterruptedException the same
    private void closeInOrder(long deadline) throws InterruptedException {
        if (!channels.dataWait(deadline).untilArrived()) {
            fail(unanswered("what was started last may be lost: it has not arrived"));
            return;
        }
        sayDone(deadline);
        if (!peer.awaitSilence(deadline)) {
            fail(unanswered("the peer has not answered"));
            return;
        }
        // The peer has said so behind its last message.
        var _ = channels.dataWait(deadline).untilDelivered();
    }

    private DeadlineException unanswered(String what) {
        return new DeadlineException(
                what + " within " + settings.deadlines().close().toMillis() + " ms after endpoint " + name
                        + " was closed; see Deadlines.withClose",
                null);
    }

    private void free() {
        try {
            CommException why = failureOr("it was closed");
            channels.stop(why);
            channels.end(deadline(FLUSH), true);
            channels.close();
            announcements.end();
            if (connector != null) {
                connector.close();
            }
            if (life.on(Event.FREED) == Action.TELL_END) {
                tellEnd();
            }
            owner.freed(this);
        } finally {
            closed.countDown();
        }
    }

    /// Its number, which no other endpoint of this process has had.
    long number() {
        return number;
    }

    /// Its name in messages: the names of both sides and the peer's address.
    public String name() {
        return name;
    }

    /// The name that the peer has given itself.
    public String peerName() {
        return peerName;
    }

    /// The peer's TCP address and port as text.
    public String peerAddress() {
        return peerAddress;
    }

    /// The address that the peer's TCP connection comes from or leads to.
    public InetAddress remoteAddress() {
        return connection().remoteAddress();
    }

    /// How its queue pairs were connected: NUMBERS or CONNECTION_MANAGER, the same at both sides.
    public SetUp setUp() {
        return setUp;
    }

    /// Checks numbers of a queue pair that the peer has sent to this program. Call it before you connect to
    /// them, or send datagrams there: a software device makes TCP connections to the place in them, and a peer
    /// could name any. Does nothing with [SessionOptions#foreignGids()].
    ///
    /// @throws CommException if they lead to another host than the peer's
    public void checkNumbers(QueuePairInfo numbers) {
        if (settings.trust().foreignGids()) {
            return;
        }
        try {
            PeerLocation.check(device.context(), List.of(numbers), remoteAddress(), peerAddress);
        } catch (SetUpException e) {
            throw Failures.ofSetUp(e);
        }
    }

    private TcpConnector connection() {
        TcpConnector connection = connector;
        if (connection == null) {
            throw new IllegalStateException("endpoint " + name + " is not connected yet");
        }
        return connection;
    }

    /// The duration of the setup, from the TCP connection to ready to send.
    public Duration setUpTime() {
        return setUpTime;
    }

    /// The session that it belongs to: a [ServerSession] if a client has connected to it or it has connected to
    /// another server, a [ClientSession] at a client. For listeners, which may be called before
    /// [ServerSession#listen] has returned.
    public Session session() {
        return owner.session();
    }

    /// Keeps an object of the program with this endpoint, such as what it knows of the peer; null removes it.
    ///
    /// @return the one that it had before; null if none
    public @Nullable Object attach(@Nullable Object object) {
        return attachment.getAndSet(object);
    }

    /// The object that [#attach] was given last; null if there is none. Never blocks.
    public @Nullable Object attachment() {
        return attachment.get();
    }

    /// The data channels.
    public List<RdmaChannel> channels() {
        return data;
    }

    /// Data channel `index`, counted from 0.
    ///
    /// @throws IndexOutOfBoundsException if there is no such channel
    public RdmaChannel channel(int index) {
        return data.get(index);
    }

    /// The sum of the counters of its data channels.
    public ChannelStatistics statistics() {
        return data.stream().map(RdmaChannel::statistics).reduce(new ChannelStatistics(), ChannelStatistics::plus);
    }

    /// Announces a buffer to the peer, which finds it with [#peerBuffer], and gives the peer rights to it.
    /// The memory is registered once more, with a key for this announcement, which ends when it is
    /// withdrawn, and when this endpoint or the buffer ends. So no other peer gets a right, and this one
    /// loses it. Blocks until the peer has received it.
    ///
    /// The peer may use its rights at any time until then, without this program noticing.
    ///
    /// @param rights one or more of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC; LOCAL_WRITE may be among
    ///         them, as in [AccessFlag#allRemote()], and has no effect
    /// @throws IllegalArgumentException if the buffer is of another session or is closed, if one of that
    ///         name was announced and not withdrawn, or if the rights are others, or need LOCAL_WRITE and
    ///         the buffer has not
    /// @throws io.rdmacomm.verbs.VerbException if the device cannot register it; the message says what to
    ///         raise
    /// @throws DeadlineException if that took longer than the operation deadline; the peer then has no
    ///         rights
    /// @throws ClosedException if the endpoint is closed or has failed
    /// @throws CommInterruptedException if the thread was interrupted; the peer then has no rights
    public void announce(RdmaBuffer buffer, Set<AccessFlag> rights) {
        checkOwn(buffer);
        Set<AccessFlag> given = buffer.checkedRights(rights);
        checkReady();
        RemoteBuffer seen = announcements.add(buffer, given);
        boolean known = false;
        try {
            control.announce(seen, settings.deadlines().operation());
            known = true;
        } finally {
            if (!known) {
                announcements.remove(buffer);
            }
        }
    }

    /// Announces a buffer with its own key to the peer, which finds it with [#peerBuffer]. The rights are
    /// those that it was allocated with, and this makes nothing: every peer of the session that learns the
    /// key has them until the buffer is closed. For peers that trust each other, and buffers that are
    /// announced to many; see [#announce(RdmaBuffer, Set)]. Blocks until the peer has received it.
    ///
    /// @throws IllegalArgumentException if the buffer is of another session or is closed, gives peers no
    ///         right, or another one was announced under that name
    /// @throws DeadlineException if that took longer than the operation deadline
    /// @throws ClosedException if the endpoint is closed or has failed
    /// @throws CommInterruptedException if the thread was interrupted
    public void announce(RdmaBuffer buffer) {
        checkOwn(buffer);
        if (!buffer.isForPeers()) {
            throw new IllegalArgumentException(buffer
                    + " gives peers no right; announce it with the rights that this peer gets, or allocate it with rights"
                    + " for all (SessionOptions.withAccess)");
        }
        checkReady();
        control.announce(announcements.add(buffer), settings.deadlines().operation());
    }

    private void checkOwn(RdmaBuffer buffer) {
        if (!buffer.domain().equals(device.domain())) {
            throw new IllegalArgumentException(buffer + " is of another session than this endpoint");
        }
        if (!buffer.isOpen()) {
            throw new IllegalArgumentException(buffer + " is closed");
        }
    }

    /// Withdraws a buffer: the peer does not find it any more, and then loses the rights that
    /// [#announce(RdmaBuffer, Set)] gave it. An operation of the peer that comes later fails with a
    /// protection error, and this endpoint with it, so agree with the peer first. Rights by the buffer's
    /// own key last until the buffer is closed. Does nothing if the buffer was not announced. Blocks until
    /// the peer has received it.
    ///
    /// @throws DeadlineException if the peer did not receive it within the operation deadline; it has lost
    ///         the rights all the same
    /// @throws ClosedException if the endpoint fails meanwhile; the peer has lost the rights
    /// @throws CommInterruptedException if the thread was interrupted; the peer has lost the rights
    public void withdraw(RdmaBuffer buffer) {
        if (!announcements.contains(buffer)) {
            return;
        }
        try {
            if (life.state() == State.READY) {
                control.withdraw(buffer.name(), settings.deadlines().operation());
            }
        } finally {
            announcements.remove(buffer);
        }
    }

    /// The buffer that the peer announced under that name, or null if it has not announced it. Never blocks.
    public @Nullable RemoteBuffer peerBuffer(String bufferName) {
        return peer.buffer(Printable.text(bufferName));
    }

    /// Waits until the peer has announced a buffer under that name. Blocks.
    ///
    /// @param timeout how long to wait
    /// @throws DeadlineException if it was not announced in time
    /// @throws ClosedException if the endpoint is or gets closed, has or gets failed
    /// @throws CommInterruptedException if the thread was interrupted
    public RemoteBuffer peerBuffer(String bufferName, Duration timeout) {
        String wanted = Printable.text(bufferName);
        RemoteBuffer buffer = peer.awaitBuffer(wanted, System.nanoTime() + timeout.toNanos());
        if (buffer == null) {
            checkReady();
            throw new DeadlineException(
                    "the peer of " + name + " has not announced a buffer '" + wanted + "' within " + timeout.toMillis()
                            + " ms",
                    null);
        }
        return buffer;
    }

    /// The buffers that the peer has announced, by name.
    public Map<String, RemoteBuffer> peerBuffers() {
        return peer.buffers();
    }

    /// Waits until the peer has called this as often as this side has. What either side had started before on
    /// the data channels (futures that still waited for room had not) has then arrived, on every transport:
    /// what was written is in its place, and messages were given to their handler or wait to be received.
    /// Blocks.
    ///
    /// @param timeout how long to wait
    /// @throws DeadlineException if the peer did not call it in time; or if what was started here did not
    ///         arrive in time, which does not count as a call
    /// @throws ClosedException if the endpoint is or gets closed, has or gets failed
    /// @throws IllegalStateException in a handler, which would wait for itself
    /// @throws CommInterruptedException if the thread was interrupted
    public void barrier(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        checkReady();
        channels.refuseInHandler();
        ProgressWait wait = channels.dataWait(deadline);
        if (!await(wait::untilArrived)) {
            checkReady();
            throw new DeadlineException(
                    "what was started on " + name + " has not arrived within " + timeout.toMillis() + " ms", null);
        }
        long mine = barriers.incrementAndGet();
        control.barrier(Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime())));
        if (!peer.awaitBarriers(mine, deadline)) {
            checkReady();
            throw new DeadlineException(
                    "the peer of " + name + " did not come to the barrier within " + timeout.toMillis() + " ms", null);
        }
        if (!await(wait::untilDelivered)) {
            throw new DeadlineException(
                    "the handlers of " + name + " did not come to the barrier within " + timeout.toMillis() + " ms",
                    null);
        }
    }

    /// Ends the connection at once, as a failure of both sides: everything in flight is flushed, pending calls
    /// on this side end because of `why`, and the peer's endpoint fails with a [PeerAbortedException] that
    /// contains the code and the message of `why`. Does nothing if the endpoint has failed, is closed, or its
    /// peer is done. Blocks until the peer has been told, at most one second; called in a handler it returns
    /// at once and another thread does it.
    ///
    /// @param code a number for the peer's program
    /// @param why what happened
    public void abort(int code, CommException why) {
        if (isInHandler()) {
            start("abort", () -> abort(code, why));
            return;
        }
        Action starts = life.fail(why);
        if (starts == Action.END) {
            tellAbort(code, String.valueOf(why.getMessage()));
        }
        if (starts == Action.END || starts == Action.END_AGAIN) {
            end();
        }
    }

    private void tellAbort(int code, String reason) {
        try {
            control.abort(code, reason, ABORT);
        } catch (CommException | IllegalStateException e) {
            LOGGER.log(Level.DEBUG, () -> "endpoint " + name + " could not say why it aborts: " + e.getMessage());
        }
    }

    /// Its state.
    public EndPointState state() {
        return switch (life.state()) {
            case CONNECTING, CONNECTING_PEER_DONE -> EndPointState.CONNECTING;
            case READY -> EndPointState.READY;
            case PEER_DONE, PEER_DONE_ANSWERED -> EndPointState.PEER_DONE;
            case CLOSING, CLOSING_DONE_SAID, CLOSING_PEER_DONE, CLOSING_BOTH_DONE -> EndPointState.CLOSING;
            case FAILED, FAILED_INCOMPLETE, FAILED_CLOSING, FAILED_CLOSING_INCOMPLETE, FAILED_FREED ->
                EndPointState.FAILED;
            case ABANDONED, CLOSED -> EndPointState.CLOSED;
        };
    }

    /// Why it failed; null if it has not.
    public @Nullable CommException failure() {
        return life.failure();
    }

    /// Waits until the peer is done: it has closed its side in order, or died. All messages that it had sent
    /// when it closed were given to their handler by then, or wait to be received; called in a handler it does
    /// not wait for that. Blocks.
    ///
    /// @param timeout how long to wait
    /// @return whether it is; [#state()] and [#failure()] say how
    /// @throws CommInterruptedException if the thread was interrupted
    public boolean awaitPeerDone(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        boolean done = peer.awaitSilence(deadline);
        if (done && !isInHandler()) {
            var _ = await(channels.dataWait(deadline)::untilDelivered);
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

    /// Closes in order: takes no more operations, waits until those in flight have ended and have arrived at
    /// the peer, tells it that this side is done, waits until it has answered and handlers were given the last
    /// messages that it had sent, then frees everything. If the peer is dead or does not answer within the
    /// close deadline, what is in flight is flushed, and [#failure()] says so. Idempotent. Blocks; called in a
    /// handler it returns at once and another thread closes the endpoint.
    ///
    /// An interrupt ends the waiting and costs nothing else: this returns with the interrupt flag set, and
    /// another thread goes on until everything has arrived or the close deadline has passed. Until [#state()] is
    /// CLOSED or FAILED, devices use the memory of what is in flight, and handlers run in that thread if the
    /// thread mode is CALLER. Closing the session, or calling this again, waits for it. A thread that was
    /// interrupted before it called this waits as any other.
    @Override
    public void close() {
        if (isInHandler()) {
            start("close", this::close);
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            Action starts = life.on(Event.CLOSE);
            if (starts == Action.NONE) {
                closed.await();
            } else {
                closeOnce(starts);
            }
        } catch (InterruptedException | CommInterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void closeOnce(Action how) throws InterruptedException {
        long deadline = deadline(settings.deadlines().close());
        boolean handedOver = false;
        try {
            refuse(how == Action.CLOSE_AFTER_PEER);
            if (how != Action.FREE) {
                closeInOrder(deadline);
            }
        } catch (InterruptedException | CommInterruptedException e) {
            start("close", () -> continueClosing(deadline));
            handedOver = true;
            throw e;
        } finally {
            if (!handedOver) {
                free();
            }
        }
    }

    private void continueClosing(long deadline) {
        try {
            closeInOrder(deadline);
        } catch (InterruptedException | CommInterruptedException e) {
            fail(unanswered("an interrupt ended the waiting"));
        } finally {
            free();
        }
    }

    @Override
    public String toString() {
        return "endpoint " + name;
    }

    /// Receives the events of the channels.
    private final class ChannelEvents implements EndPointEvents {
        @Override
        public void onFailed(CommException why) {
            lost(why);
        }

        @Override
        public void onRecall(RdmaChannel channel) {
            credits.ask(channel);
        }

        @Override
        public void onCreditsWanted(int index) {
            check(credits.asked(index));
        }

        @Override
        public void onCreditsReturned(int index, int count) {
            check(credits.returned(index, count));
        }

        private void check(@Nullable String violation) {
            if (violation != null) {
                fail(new PeerProtocolException("the peer of " + name + " " + violation, null));
            }
        }

        @Override
        public void onPeerDone() {
            if (life.on(Event.PEER_DONE) == Action.ANSWER) {
                answer();
            }
        }

        @Override
        public void onHandlerError(RdmaChannel channel, Throwable thrown) {
            errors.report("a handler of " + channel, thrown);
        }

        @Override
        public @Nullable CommException failure() {
            return life.failure();
        }
    }
}
