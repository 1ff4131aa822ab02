package io.rdmacomm.soft;

import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.mpa.AcceptPause;
import io.rdmacomm.soft.shm.Engine;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The TCP side of a context: takes calls, makes calls, and ends connections. Everything that takes time is done
/// by the engine.
final class Links implements Engine.Ready, AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger(Links.class.getName());
    private static final int MOST_INCOMING = 1024;
    private static final int CALLS_AT_A_TIME = 64;
    private static final long TIMES_NANOS = 20_000_000;
    private static final int SCRATCH_BYTES = 64 * 1024;

    private final SoftContext context;
    private final Engine engine;
    private final @Nullable Listener listener;
    private final LinkWatch watch;
    private final LinkCounters counters = new LinkCounters();
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();
    private final AtomicInteger incoming = new AtomicInteger();
    private final Set<Farewell> farewells = ConcurrentHashMap.newKeySet();
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);
    private final AcceptPause acceptPause = new AcceptPause();
    private long nextTimes = System.nanoTime();
    private volatile boolean closed;

    Links(SoftContext context, Engine engine, @Nullable Listener listener) throws IOException {
        this.context = context;
        this.engine = engine;
        this.listener = listener;
        this.watch = new LinkWatch(engine);
        if (listener != null) {
            engine.register(listener.channel(), SelectionKey.OP_ACCEPT, this);
        }
    }

    LinkWatch watch() {
        return watch;
    }

    LinkCounters counters() {
        return counters;
    }

    /// Peers call; the engine. Many at once are taken together: with one for each look at all the others, a
    /// thousand that call at the same time would wait for each other beyond their patience.
    @Override
    public void ready(SelectionKey key) throws IOException {
        Listener from = listener;
        for (int i = 0; from != null && i < CALLS_AT_A_TIME; i++) {
            SocketChannel channel;
            try {
                channel = from.channel().accept();
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "cannot take a call now", e);
                counters.paused();
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
        if (incoming.get() >= MOST_INCOMING) {
            counters.overload();
            close(channel);
            return;
        }
        try {
            prepare(channel);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a caller went away at once", e);
            close(channel);
            return;
        }
        incoming.incrementAndGet();
        begin(new IncomingCall(context, channel), SelectionKey.OP_READ);
    }

    private void begin(Call call, int operations) throws IOException {
        try {
            calls.add(call);
            engine.register(call.channel(), operations, call);
        } catch (IOException | RuntimeException e) {
            call.end();
            throw e;
        }
    }

    /// Sets a socket up for a link.
    static void prepare(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    /// Calls the peer of a queue pair; the engine.
    ///
    /// @param patienceNanos how long its host may take to answer
    void call(SoftQueuePair queuePair, PeerHandshake handshake, long patienceNanos) {
        OutgoingCall call;
        try {
            call = new OutgoingCall(queuePair, SocketChannel.open(), handshake, patienceNanos);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.WARNING, () -> queuePair + " cannot call its peer", e);
            return;
        }
        if (!queuePair.calling(call)) {
            close(call.channel());
            return;
        }
        SocketChannel channel = call.channel();
        try {
            prepare(channel);
            if (listener != null) {
                // The peer sees the address that it was told.
                channel.bind(new InetSocketAddress(context.settings().address(), 0));
            }
            channel.connect(new InetSocketAddress(
                    handshake.destination().gid().address(),
                    handshake.destination().lid()));
            begin(call, SelectionKey.OP_CONNECT);
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> queuePair + " cannot call its peer", e);
            call.end();
        }
    }

    /// A call has ended.
    void left(Call call) {
        if (calls.remove(call) && call instanceof IncomingCall) {
            incoming.decrementAndGet();
        }
    }

    /// Ends a connection; any thread.
    ///
    /// @param told whether the peer was told why, and is to read it
    void farewell(SocketChannel channel, boolean told) {
        if (!told || closed) {
            close(channel);
            return;
        }
        Farewell farewell = new Farewell(this, channel, scratch);
        farewells.add(farewell);
        engine.execute(() -> begin(farewell));
    }

    private void begin(Farewell farewell) {
        try {
            farewell.channel().shutdownOutput();
            engine.register(farewell.channel(), SelectionKey.OP_READ, farewell);
        } catch (IOException | RuntimeException e) {
            ended(farewell);
        }
    }

    void ended(Farewell farewell) {
        farewells.remove(farewell);
        close(farewell.channel());
    }

    /// Closes a socket; whatever goes wrong then is of no consequence.
    void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a connection", e);
        }
        engine.wakeup();
    }

    /// Ends what takes too long; the engine.
    ///
    /// @return nanoseconds until this is wanted again
    long onTime() {
        long soonest = Math.min(watch.onTime(), acceptPause.endIfOver());
        if (calls.isEmpty() && farewells.isEmpty()) {
            return soonest;
        }
        long now = System.nanoTime();
        if (now - nextTimes >= 0) {
            nextTimes = now + TIMES_NANOS;
            for (Call call : calls) {
                call.checkTime(now);
            }
            for (Farewell farewell : farewells) {
                farewell.checkTime(now);
            }
        }
        return Math.min(soonest, Math.max(1, nextTimes - now));
    }

    /// Ends everything; the engine has stopped.
    @Override
    public void close() throws IOException {
        closed = true;
        for (Call call : calls) {
            call.end();
        }
        for (Farewell farewell : farewells) {
            ended(farewell);
        }
        if (listener != null) {
            listener.close();
        }
    }
}
