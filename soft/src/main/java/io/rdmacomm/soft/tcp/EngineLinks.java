package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Engine;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/// The links of a context that its engine drives. Each pass reads links with an incoming stream, checks links left to
/// threads, and sends delayed acknowledgements; twice a second it checks all timeouts.
final class EngineLinks {
    /// No pass is wanted.
    static final long NEVER = Long.MAX_VALUE;
    /// A queue polled within this time counts as being polled; the engine checks it again after that.
    static final long TICK_NANOS = 2_000_000;
    /// How long the engine waits before it checks a link again that another thread was driving.
    static final long LOCKED_NANOS = 100_000;
    /// How long the engine keeps reading a link after the last data of a stream.
    static final long STREAM_NANOS = 50_000;

    private static final long TIMES_NANOS = 500_000_000;

    private final Engine engine;
    private final ConcurrentLinkedQueue<LinkDriver> added = new ConcurrentLinkedQueue<>();
    private final List<LinkDriver> links = new ArrayList<>();
    private final List<LinkDriver> scheduled = new ArrayList<>();
    private volatile boolean anyLeftToThread;
    private volatile boolean recalled;
    private long nextTimes = System.nanoTime();

    EngineLinks(Engine engine) {
        this.engine = engine;
    }

    SelectionKey register(SocketChannel channel, int operations, Engine.Ready ready) throws IOException {
        return engine.register(channel, operations, ready);
    }

    boolean isCurrentThread() {
        return engine.isCurrentThread();
    }

    void wakeup() {
        engine.wakeup();
    }

    /// Watches a link until it is closed; any thread.
    void add(LinkDriver link) {
        added.add(link);
        engine.wakeup();
    }

    /// Makes each pass check a link as long as [LinkDriver#pass] asks for it; the engine.
    void schedule(LinkDriver link) {
        scheduled.add(link);
    }

    /// A scheduled link was left to a thread; the engine.
    void leftToThread() {
        anyLeftToThread = true;
    }

    /// Makes the engine check the links left to threads at once; any thread.
    void recall() {
        if (anyLeftToThread) {
            recalled = true;
            engine.wakeup();
        }
    }

    /// The same for a thread that is about to do the work of the engine.
    void recallBeforeLeading() {
        if (anyLeftToThread) {
            recalled = true;
            engine.callBeforeNextWait();
        }
    }

    /// A pass over the links; the engine.
    ///
    /// @return nanoseconds until the next one is wanted
    long onTime() {
        boolean all = recalled;
        recalled = false;
        long now = System.nanoTime();
        long soonest = pass(now, all);
        for (LinkDriver link = added.poll(); link != null; link = added.poll()) {
            links.add(link);
        }
        if (links.isEmpty()) {
            return soonest;
        }
        if (now - nextTimes >= 0) {
            nextTimes = now + TIMES_NANOS;
            checkTimes(now);
        }
        return Math.min(soonest, nextTimes - now);
    }

    /// Checks the scheduled links, and removes those that need no further pass.
    private long pass(long now, boolean all) {
        long soonest = NEVER;
        boolean anyLeft = false;
        for (int i = scheduled.size() - 1; i >= 0; i--) {
            LinkDriver link = scheduled.get(i);
            long wait = link.pass(now, all);
            if (wait == NEVER) {
                scheduled.remove(i);
            } else {
                soonest = Math.min(soonest, wait);
                anyLeft |= link.isLeftToThread();
            }
        }
        anyLeftToThread = anyLeft;
        return soonest;
    }

    /// By index: an iterator would be garbage, twice a second.
    private void checkTimes(long now) {
        for (int i = links.size() - 1; i >= 0; i--) {
            LinkDriver link = links.get(i);
            if (link.isClosed()) {
                links.set(i, links.getLast());
                links.removeLast();
            } else {
                link.checkTime(now);
            }
        }
    }
}
