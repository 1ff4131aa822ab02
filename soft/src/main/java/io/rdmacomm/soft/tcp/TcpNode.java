package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.AcceptPause;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import io.rdmacomm.verbs.service.TcpKeepAlive;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The TCP side of a context: accepts calls of peers and makes calls to them. The engine does everything that takes
/// time.
public final class TcpNode implements Engine.Ready, AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(TcpNode.class);
    private static final int MOST_INCOMING = 1024;
    private static final int CALLS_AT_A_TIME = 64;
    private static final long TIMES_NANOS = 20_000_000;

    private final TcpSettings settings;
    private final Gid gid;
    private final int lid;
    private final Engine engine;
    private final @Nullable CallListener listener;
    private final IntFunction<@Nullable TcpConnectionSetup> setups;
    private final LinkContext links;
    private final Set<TcpCall> calls = ConcurrentHashMap.newKeySet();
    /// Callers that have not been answered, and rejected ones that have not hung up.
    private final FairQueue<CallerOrigin, IncomingCall> callers = new FairQueue<>(MOST_INCOMING);

    private final AcceptPause acceptPause = new AcceptPause();
    private final AtomicBoolean strayTold = new AtomicBoolean();
    private long nextTimes = System.nanoTime();

    /// Begins to take calls, unless `listener` is null.
    ///
    /// @param setups finds the queue pair with a number
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    public TcpNode(
            TcpSettings settings,
            Gid gid,
            int lid,
            LocalMemory memory,
            Engine engine,
            @Nullable CallListener listener,
            IntFunction<@Nullable TcpConnectionSetup> setups,
            IntConsumer onLimit)
            throws IOException {
        this.settings = settings;
        this.gid = gid;
        this.lid = lid;
        this.engine = engine;
        this.listener = listener;
        this.setups = setups;
        this.links = new LinkContext(
                memory,
                new EngineLinks(engine),
                new LinkCounters(),
                new TrafficCounters(),
                new LingeringClose(engine),
                onLimit);
        if (listener != null) {
            engine.register(listener.channel(), SelectionKey.OP_ACCEPT, this);
        }
    }

    TcpSettings settings() {
        return settings;
    }

    Gid gid() {
        return gid;
    }

    int lid() {
        return lid;
    }

    LinkContext links() {
        return links;
    }

    /// Counters of calls and links.
    public LinkCounters counters() {
        return links.counters();
    }

    /// The traffic of all links so far.
    public LinkTraffic traffic() {
        return links.traffic().sum();
    }

    /// A completion queue was armed, so its polling thread is about to sleep.
    ///
    /// @param leads whether that thread most likely does the work of the engine then
    public void armed(boolean leads) {
        if (leads) {
            links.engineLinks().recallBeforeLeading();
        } else {
            links.engineLinks().recall();
        }
    }

    /// Accepts calls; the engine. Takes many at once: with one per pass over all other channels, a thousand peers
    /// that call at the same time would time out.
    @Override
    public void ready(SelectionKey key) throws IOException {
        CallListener from = listener;
        for (int i = 0; from != null && i < CALLS_AT_A_TIME; i++) {
            SocketChannel channel;
            try {
                channel = from.channel().accept();
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "cannot take a call now", e);
                counters().paused();
                acceptPause.begin(key);
                return;
            }
            if (channel == null) {
                return;
            }
            take(channel);
        }
    }

    private void take(SocketChannel channel) throws IOException {
        InetAddress origin;
        try {
            prepare(channel);
            origin = ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a caller went away at once", e);
            links.closing().close(channel);
            return;
        }
        IncomingCall call = new IncomingCall(this, setups, channel, origin);
        IncomingCall displaced = callers.add(call, CallerOrigin.of(origin));
        if (displaced != null) {
            displaced.makeRoom();
        }
        begin(call, SelectionKey.OP_READ);
    }

    private void begin(TcpCall call, int operations) throws IOException {
        try {
            calls.add(call);
            engine.register(call.channel(), operations, call);
        } catch (IOException | RuntimeException | Error e) {
            call.end();
            throw e;
        }
    }

    /// Sets a socket up for a link.
    void prepare(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        TcpKeepAlive.set(channel, settings.silenceSeconds());
    }

    /// Makes the engine call the peer of a queue pair.
    ///
    /// @param timeoutNanos how long its host may take to answer
    void call(TcpConnectionSetup setup, PeerHandshake handshake, long timeoutNanos) {
        engine.execute(() -> begin(setup, handshake, timeoutNanos));
    }

    private void begin(TcpConnectionSetup setup, PeerHandshake handshake, long timeoutNanos) {
        OutgoingCall call;
        try {
            call = new OutgoingCall(this, setup, SystemSockets.openSocket(), handshake, timeoutNanos);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.WARNING, () -> handshake.source() + " cannot call its peer", e);
            return;
        }
        if (!setup.callBegins(call)) {
            links.closing().close(call.channel());
            return;
        }
        SocketChannel channel = call.channel();
        try {
            prepare(channel);
            if (listener != null) {
                // The peer expects this address.
                channel.bind(new InetSocketAddress(settings.address(), 0));
            }
            channel.connect(new InetSocketAddress(
                    handshake.destination().gid().address(),
                    handshake.destination().lid()));
            begin(call, SelectionKey.OP_CONNECT);
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> handshake.source() + " cannot call its peer", e);
            call.end();
        }
    }

    /// A call has ended; the engine.
    void left(TcpCall call) {
        if (calls.remove(call) && call instanceof IncomingCall caller) {
            callers.remove(caller);
        }
    }

    /// Logs once that the right peer has called from a wrong address: it will call again and again.
    void wrongOrigin(String what) {
        if (strayTold.compareAndSet(false, true)) {
            LOGGER.log(System.Logger.Level.WARNING, what);
        }
    }

    /// Ends calls that take too long; the engine.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        long soonest = Math.min(links.engineLinks().onTime(), acceptPause.endIfOver());
        if (calls.isEmpty() && links.closing().isEmpty()) {
            return soonest;
        }
        long now = System.nanoTime();
        if (now - nextTimes >= 0) {
            nextTimes = now + TIMES_NANOS;
            calls.forEach(TcpCall::checkTime);
            links.closing().checkTimes(now);
        }
        return Math.min(soonest, Math.max(1, nextTimes - now));
    }

    /// Ends everything; the engine has stopped.
    @Override
    public void close() throws IOException {
        for (TcpCall call : calls) {
            Closer.step(call.channel(), call::end);
        }
        links.closing().close();
        if (listener != null) {
            listener.close();
        }
    }
}
