package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Engine;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/// The links of a context that its engine drives: those over which a stream arrives, those that it has left to a
/// polling thread and looks at again, and the time-outs of all.
final class EngineLinks {
    /// A queue polled within this time counts as being polled; the engine looks again after it.
    static final long TICK_NANOS = 2_000_000;
    /// The engine looks again at a link that another thread was driving after this time.
    static final long LOCKED_NANOS = 100_000;
    /// How long the engine keeps reading a link after the last data of a stream.
    static final long STREAM_NANOS = 50_000;

    private static final long TIMES_NANOS = 500_000_000;

    private static final Look REVIEW = (link, now) -> link.review(now, false);
    private static final Look REVIEW_AT_ONCE = (link, now) -> link.review(now, true);
    private static final Look SETTLE = LinkDriver::settle;

    /// A look at a link, which says when the next one is due, 0 for never.
    private interface Look {
        long at(LinkDriver link, long now);
    }

    private final Engine engine;
    private final ConcurrentLinkedQueue<LinkDriver> added = new ConcurrentLinkedQueue<>();
    private final List<LinkDriver> links = new ArrayList<>();
    private final List<LinkDriver> deferred = new ArrayList<>();
    private final List<LinkDriver> streams = new ArrayList<>();
    private final List<LinkDriver> owing = new ArrayList<>();
    private volatile boolean anyDeferred;
    private volatile boolean review;
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

    /// A stream arrives over a link, which is read in each pass until the stream has ended; the engine.
    void readOn(LinkDriver link) {
        streams.add(link);
    }

    /// A link owes an acknowledgement that another thread is likely to send; the engine.
    void owe(LinkDriver link) {
        owing.add(link);
    }

    /// Watches a link until it is closed; any thread.
    void add(LinkDriver link) {
        added.add(link);
        engine.wakeup();
    }

    /// Leaves a link to a polling thread for a while; the engine.
    void defer(LinkDriver link) {
        deferred.add(link);
        anyDeferred = true;
    }

    /// Takes back the links whose polling threads do not read them any more, soon; any thread.
    void reviewSoon() {
        if (anyDeferred) {
            review = true;
            engine.wakeup();
        }
    }

    /// Reads streams, and takes back links whose queues are not polled any more; the engine.
    ///
    /// @return nanoseconds until this is wanted again
    long onTime() {
        for (int i = streams.size() - 1; i >= 0; i--) {
            if (!streams.get(i).readOn()) {
                streams.remove(i);
            }
        }
        long now = System.nanoTime();
        boolean all = review;
        review = false;
        long soonest = lookAt(deferred, all ? REVIEW_AT_ONCE : REVIEW, now, 1);
        anyDeferred = !deferred.isEmpty();
        // Not exact: the engine hears nothing while it waits for less than a millisecond.
        soonest = Math.min(soonest, lookAt(owing, SETTLE, now, Engine.EXACT_NANOS));
        if (!streams.isEmpty()) {
            soonest = 0;
        }
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

    /// Looks at the links of a list, and removes those that are finished.
    ///
    /// @return nanoseconds, at least `least`, until the next one is due
    private static long lookAt(List<LinkDriver> list, Look look, long now, long least) {
        long soonest = Long.MAX_VALUE;
        for (int i = list.size() - 1; i >= 0; i--) {
            long due = look.at(list.get(i), now);
            if (due == 0) {
                list.remove(i);
            } else {
                soonest = Math.min(soonest, Math.max(least, due - now));
            }
        }
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
