package io.rdmacomm.comm;

import io.rdmacomm.comm.PeerFailedException.Reason;
import io.rdmacomm.comm.endpoint.EndPointLife;
import io.rdmacomm.comm.endpoint.EndPointLife.Action;
import io.rdmacomm.comm.endpoint.EndPointLife.Event;
import io.rdmacomm.comm.endpoint.EndPointLife.State;
import io.rdmacomm.comm.endpoint.HandlerErrors;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.setup.AgreedVersion;
import io.rdmacomm.comm.setup.EndPointInfo;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.QueuePairConnector;
import io.rdmacomm.comm.setup.SetupOffer;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The connection of an endpoint to its peer: its channels, how it is set up and how it ends. Thread-safe.
///
/// Users hold an [EndPoint]; the table of [EndPointLife] defines the behavior of this class.
final class PeerConnection implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(PeerConnection.class);
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final Duration FLUSH = Duration.ofMillis(200);
    private static final Duration ABORT = Duration.ofSeconds(1);

    private final long number = NUMBERS.incrementAndGet();
    private final SessionDevice device;
    private final SessionSettings settings;
    private final String peerAddress;
    private final HandlerErrors errors;
    private final ConnectionOwner owner;
    private final String name;
    private final EndPointLife<RdmaException> life = new EndPointLife<>();
    private final PeerState peerState = new PeerState(life);
    private final EndPointChannels channels;
    private final List<RdmaChannel> data;
    private final ControlChannel control;
    private final CreditReturns credits;
    private final Announcements announcements = new Announcements();
    /// Held while sending on the control channel, so that nothing follows DONE.
    private final ReentrantLock sending = new ReentrantLock();

    // The parts of the work after a failure.
    private final Runnable aborting = this::abortLater;
    private final Runnable ending = this::end;
    private final Runnable flushing = this::flush;

    private final AtomicReference<@Nullable Thread> endThread = new AtomicReference<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    // Set before the endpoint is published.
    private @Nullable TcpConnector connector;
    private AgreedVersion agreed = AgreedVersion.NONE;
    private String peerName = "";
    private Duration setupTime = Duration.ZERO;
    private Setup setup = Setup.AUTOMATIC;
    /// Whether nothing more has to be sent over the TCP connection.
    private volatile boolean exchanged;

    /// Creates the channels; nothing is connected yet.
    ///
    /// @param errors receives the exceptions of handlers
    /// @param owner notified when it has ended, and when it is freed
    PeerConnection(
            SessionDevice device,
            SessionSettings settings,
            String peerAddress,
            int dataChannels,
            HandlerErrors errors,
            ConnectionOwner owner) {
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
                channels.control(),
                channels::outgoing,
                number,
                settings.trust().limits().buffers(),
                peerState,
                events);
        this.credits = new CreditReturns(
                name, control, data, this::unlessDone, settings.deadlines().operation());
    }

    /// The description of this side for the peer.
    EndPointInfo info(SetupOffer setup) {
        return new EndPointInfo(settings.name(), device.port().linkLayer(), setup, channels.infos());
    }

    /// Brings up all channels and waits until both sides can send.
    ///
    /// @param queuePairs connects the queue pairs
    /// @param peerFirst whether to wait for the peer before creating threads and receives
    /// @throws SetupFailedException if the peer is not compatible
    void bringUp(TcpConnector connection, EndPointInfo peer, QueuePairConnector queuePairs, boolean peerFirst) {
        connector = connection;
        setup = queuePairs.equals(QueuePairConnector.BY_NUMBERS) ? Setup.NUMBERS : Setup.CONNECTION_MANAGER;
        int count = channels.all().size();
        if (peer.channels().size() != count) {
            throw new SetupFailedException(
                    SetupFailedException.Reason.PROTOCOL_VIOLATED,
                    peerAddress + " has " + peer.channels().size() + " channels where " + count + " were agreed on",
                    null);
        }
        peerName = peer.name();
        connection.limitSilence(settings.deadlines().silence());
        if (peerFirst) {
            connection.receive(FrameType.READY, settings.deadlines().handshake());
        }
        channels.connect(peer.channels(), queuePairs);
        connection.send(FrameType.READY, ByteBuffer.allocate(0));
        if (!peerFirst) {
            connection.receive(FrameType.READY, settings.deadlines().handshake());
        }
        channels.all().forEach(RdmaChannel::open);
        exchanged = true;
        switch (life.on(Event.SET_UP)) {
            case STOP -> {
                connection.finish();
                channels.stop(failureOr("it failed while it was set up"));
            }
            case ANSWER -> answer();
            default -> {}
        }
        start("watch", () -> watch(connection));
    }

    void setupTime(Duration value) {
        setupTime = value;
    }

    void agreed(AgreedVersion value) {
        agreed = value;
    }

    /// The version and the features of the protocol with the peer.
    AgreedVersion agreed() {
        return agreed;
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

    /// Waits for the end of the peer's process: after the handshake, the TCP connection has no other purpose.
    private void watch(TcpConnector connection) {
        try {
            RdmaException end = Failures.ofSetup(connection.awaitEnd());
            if (!life.isPeerFinished()) {
                CompletionGroup group = device.control();
                group.runExclusively(group::drain);
            }
            fail(withPeerName(end));
        } catch (RuntimeException | Error e) {
            control.channel().adapter().condemn(e);
        }
    }

    /// A channel has failed. If the peer is gone, its last message (DONE or ABORT) may still be unread.
    private void lost(RdmaException failure) {
        RdmaException why = withPeerName(failure);
        CompletionGroup group = device.control();
        if (life.state() == State.CLOSING_DONE_SENT) {
            group.submit(() -> {
                group.drain();
                fail(why);
            });
            return;
        }
        if (PeerFailedException.is(Reason.GONE, why)) {
            group.catchUp();
        }
        // On this thread: the failed operation ends when this returns, and the program may check the state
        // then.
        fail(why);
    }

    /// Adds the name of the peer, because a failure names only an address or a queue pair.
    private RdmaException withPeerName(RdmaException failure) {
        if (!PeerFailedException.is(Reason.GONE, failure) || peerName.isEmpty()) {
            return failure;
        }
        PeerFailedException named =
                PeerFailedException.gone(peerName + " is gone: " + failure.getMessage(), failure.getCause());
        named.setStackTrace(failure.getStackTrace());
        return named;
    }

    private void fail(RdmaException why) {
        Action starts = life.fail(why);
        if (starts == Action.END && PeerFailedException.is(Reason.PROTOCOL_VIOLATED, why)) {
            // Otherwise the peer would not learn the reason. On another thread, because sending may block and the
            // caller may be a handler.
            runOrRepeat(aborting);
        } else if (starts == Action.END || starts == Action.END_AGAIN) {
            runOrRepeat(ending);
        }
    }

    private void abortLater() {
        start("abort", () -> {
            try {
                sendAbort(
                        PeerFailedException.PROTOCOL_VIOLATION,
                        failureOr("it has failed").getMessage());
            } finally {
                runOrRepeat(ending);
            }
        });
    }

    /// Finishes the TCP connection first, in the same step as the failure and without allocating. After that, the
    /// peer notices the failure, whatever happens here.
    private void end() {
        TcpConnector connection = connector;
        if (connection != null && exchanged) {
            connection.finish();
        }
        RdmaException why = Objects.requireNonNull(life.failure());
        channels.stop(why);
        notifyOwner();
        start("flush", flushing);
        LOGGER.log(Level.DEBUG, () -> "endpoint " + name + " failed: " + why.getMessage());
        Failures.record(name, why);
    }

    private void flush() {
        try {
            channels.end(deadline(FLUSH), false);
            announcements.end();
        } catch (RuntimeException | Error e) {
            repeat(e);
        }
    }

    /// Runs one of the parts of the work after a failure. They are created in advance, so that this allocates
    /// nothing.
    private void runOrRepeat(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            repeat(e);
        }
    }

    /// A part has failed, probably out of memory: the polling thread of the control channel repeats all of the
    /// work.
    private void repeat(Throwable why) {
        life.on(Event.INCOMPLETE);
        control.channel().adapter().condemn(why);
    }

    private static long deadline(Duration timeout) {
        return System.nanoTime() + timeout.toNanos();
    }

    private RdmaException failureOr(String words) {
        RdmaException why = life.failure();
        return why != null ? why : new ClosedException("endpoint " + name + " is not ready: " + words, null);
    }

    private void notifyOwner() {
        Thread thread = thread("end", owner::ended);
        if (life.state() != State.ABANDONED && endThread.compareAndSet(null, thread)) {
            boolean started = false;
            try {
                thread.start();
                started = true;
            } finally {
                if (!started) {
                    endThread.set(null);
                }
            }
        }
    }

    /// The thread that notifies the owner of the end; null before the end.
    @Nullable
    Thread endThread() {
        return endThread.get();
    }

    /// Whether this side started to close it before it ended in another way.
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
            RdmaException why = life.failure();
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

    /// The peer is done first: waits for operations in flight, answers with DONE, and keeps messages that
    /// have arrived.
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
                // Never happens: nothing interrupts this thread.
                Thread.currentThread().interrupt();
            }
            sendDone(deadline);
            announcements.end();
            notifyOwner();
        });
    }

    /// Sends DONE once, and returns when it has arrived, because the connection may end next. After an
    /// interrupt that leaves its delivery unknown, it is sent again; a duplicate does no harm.
    ///
    /// @throws RdmaInterruptedException if the thread was interrupted
    private void sendDone(long deadline) {
        sending.lock();
        try {
            if (life.on(Event.SEND_DONE) == Action.SEND_DONE) {
                control.done(Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime())));
            }
        } catch (RdmaInterruptedException e) {
            life.on(Event.SEND_INTERRUPTED);
            throw e;
        } catch (RdmaException | IllegalStateException e) {
            LOGGER.log(Level.DEBUG, () -> "endpoint " + name + " could not send DONE: " + e.getMessage());
        } finally {
            sending.unlock();
        }
    }

    /// Sends a message on the control channel, unless this side is already done.
    private void unlessDone(Runnable send) {
        sending.lock();
        try {
            if (life.state() == State.READY) {
                send.run();
            }
        } finally {
            sending.unlock();
        }
    }

    /// Rejects new operations. Never blocks.
    private void refuse(boolean peerDone) {
        ClosedException refusal = new ClosedException("endpoint " + name + " is closed", null);
        data.forEach(channel -> channel.refuse(refusal));
        if (peerDone) {
            data.forEach(channel -> channel.endMessages(refusal));
        }
    }

    /// Waits for the orderly end. After an interrupt, another call continues.
    ///
    /// @throws InterruptedException if the thread was interrupted while it waited
    /// @throws RdmaInterruptedException the same
    private void closeInOrder(long deadline) throws InterruptedException {
        if (!channels.dataWait(deadline).untilArrived()) {
            fail(unanswered("what was started last may be lost: it has not arrived"));
            return;
        }
        sendDone(deadline);
        if (!peerState.awaitPeerFinished(deadline)) {
            fail(unanswered("the peer has not answered"));
            return;
        }
        // The peer sent DONE after its last message.
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
            Closer.step(name, () -> {
                channels.stop(failureOr("it was closed"));
                channels.end(deadline(FLUSH), true);
            });
            channels.close();
            announcements.end();
            if (life.on(Event.FREED) == Action.NOTIFY_OWNER) {
                notifyOwner();
            }
            owner.freed();
        } finally {
            if (connector != null) {
                connector.close();
            }
            closed.countDown();
        }
    }

    /// Unique in this process.
    long number() {
        return number;
    }

    /// Its name in messages: the names of both sides and the peer's address.
    String name() {
        return name;
    }

    String peerName() {
        return peerName;
    }

    String peerAddress() {
        return peerAddress;
    }

    SessionDevice device() {
        return device;
    }

    SessionSettings settings() {
        return settings;
    }

    Setup setup() {
        return setup;
    }

    Duration setupTime() {
        return setupTime;
    }

    /// The address that the peer's TCP connection comes from or leads to.
    InetAddress remoteAddress() {
        TcpConnector connection = connector;
        if (connection == null) {
            throw new IllegalStateException("endpoint " + name + " is not connected yet");
        }
        return connection.remoteAddress();
    }

    EndPointChannels channels() {
        return channels;
    }

    /// The data channels.
    List<RdmaChannel> data() {
        return data;
    }

    ControlChannel control() {
        return control;
    }

    /// The buffers that this side has announced.
    Announcements announcements() {
        return announcements;
    }

    /// The buffers and barriers that the peer has announced.
    PeerState peerState() {
        return peerState;
    }

    ChannelStatistics statistics() {
        return data.stream().map(RdmaChannel::statistics).reduce(new ChannelStatistics(), ChannelStatistics::plus);
    }

    /// Ends the connection at once; see [EndPoint#abort].
    void abort(int code, RdmaException why) {
        if (isInHandler()) {
            start("abort", () -> abort(code, why));
            return;
        }
        Action starts = life.fail(why);
        try {
            if (starts == Action.END) {
                sendAbort(code, why.getMessage());
            }
        } finally {
            if (starts == Action.END || starts == Action.END_AGAIN) {
                runOrRepeat(ending);
            }
        }
    }

    private void sendAbort(int code, String reason) {
        try {
            control.abort(code, reason, ABORT);
        } catch (RdmaException | IllegalStateException e) {
            LOGGER.log(Level.DEBUG, () -> "endpoint " + name + " could not send ABORT: " + e.getMessage());
        }
    }

    EndPointState state() {
        return switch (life.state()) {
            case CONNECTING, CONNECTING_PEER_DONE -> EndPointState.CONNECTING;
            case READY -> EndPointState.READY;
            case PEER_DONE, PEER_DONE_ANSWERED -> EndPointState.PEER_DONE;
            case CLOSING, CLOSING_DONE_SENT, CLOSING_PEER_DONE, CLOSING_BOTH_DONE -> EndPointState.CLOSING;
            case FAILED, FAILED_INCOMPLETE, FAILED_CLOSING, FAILED_CLOSING_INCOMPLETE, FAILED_FREED ->
                EndPointState.FAILED;
            case ABANDONED, CLOSED -> EndPointState.CLOSED;
        };
    }

    /// Why it failed; null if it has not.
    @Nullable
    RdmaException failure() {
        return life.failure();
    }

    /// Closes in order; see [EndPoint#close].
    @Override
    public void close() {
        if (isInHandler() && !isFreed()) {
            throw Failures.closedInHandler(this);
        }
        boolean interrupted = Thread.interrupted();
        try {
            Action starts = life.on(Event.CLOSE);
            if (starts == Action.NONE) {
                closed.await();
            } else {
                closeOnce(starts);
            }
        } catch (InterruptedException | RdmaInterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void closeLater() {
        start("close", this::close);
    }

    private void closeOnce(Action how) throws InterruptedException {
        long deadline = deadline(settings.deadlines().close());
        boolean handedOver = false;
        try {
            refuse(how == Action.CLOSE_AFTER_PEER);
            if (how != Action.FREE) {
                closeInOrder(deadline);
            }
        } catch (InterruptedException | RdmaInterruptedException e) {
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
        } catch (InterruptedException | RdmaInterruptedException e) {
            fail(unanswered("an interrupt ended the wait"));
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
        public void onFailed(RdmaException why) {
            lost(why);
        }

        @Override
        public void onRecall(int index) {
            credits.ask(index);
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
                fail(PeerFailedException.protocolViolated("the peer of " + name + " " + violation, null));
            }
        }

        @Override
        public void onPeerDone() {
            if (life.on(Event.PEER_DONE) == Action.ANSWER) {
                answer();
            }
        }

        @Override
        public void onHandlerError(String channel, Throwable thrown) {
            errors.report("a handler of " + channel, thrown);
        }

        @Override
        public @Nullable RdmaException failure() {
            return life.failure();
        }
    }
}
