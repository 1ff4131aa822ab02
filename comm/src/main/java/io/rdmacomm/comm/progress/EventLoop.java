package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/// One thread that waits for the events of many completion queues and polls only those that have one: work mode
/// EPOLL. The queues share a completion channel, which serves verbs as an epoll instance serves files.
public final class EventLoop implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(EventLoop.class);
    private static final Duration LONGEST_SLEEP = Duration.ofMillis(500);

    private final Duration longestSleep;
    private final CompletionChannel channel;
    private final Map<CompletionQueue, CompletionGroup> groups = new ConcurrentHashMap<>();
    private final Queue<CompletionGroup> waiting = new ConcurrentLinkedQueue<>();
    private final Set<CompletionGroup> later = ConcurrentHashMap.newKeySet();
    private final CheckPace pace = new CheckPace();
    private final ServiceThread thread;
    /// Whether a group may have neither an event nor a place in the queue. Used by the thread only.
    private boolean anyMissed;
    private volatile boolean stopping;

    /// @param name of its thread
    public EventLoop(Context context, String name) {
        this(context, name, LONGEST_SLEEP);
    }

    /// @param name of its thread
    /// @param longestSleep the longest sleep; only a precaution, as no wake-up is missed
    public EventLoop(Context context, String name, Duration longestSleep) {
        this.longestSleep = longestSleep;
        this.channel = context.createCompletionChannel();
        this.thread = new ServiceThread(name, LOGGER, this::serve, this::ended);
    }

    /// Starts the thread.
    public EventLoop start() {
        var _ = thread.start();
        return this;
    }

    /// The completion channel of the queues of its groups.
    CompletionChannel channel() {
        return channel;
    }

    /// Serves `group` from now on.
    public void add(CompletionGroup group) {
        groups.put(group.queue(), group);
        attend(group);
    }

    /// Stops serving `group`, from its next wait on.
    public void remove(CompletionGroup group) {
        groups.remove(group.queue());
    }

    /// Serves `group` soon, with or without an event.
    void attend(CompletionGroup group) {
        pace.restart();
        waiting.add(group);
        channel.wakeUp();
    }

    /// Serves `group` a little later, according to [CheckPace], for a condition that raises no event.
    void attendLater(CompletionGroup group) {
        later.add(group);
        if (!thread.isCurrent()) {
            channel.wakeUp();
        }
    }

    private boolean serve() {
        if (stopping || !channel.isOpen()) {
            return false;
        }
        if (anyMissed) {
            serveAll();
        }
        // Cleared after success: a group whose turn fails is no longer queued.
        anyMissed = true;
        serveWaiting();
        CompletionGroup ready = awaitReady();
        if (ready != null) {
            serve(ready);
        }
        anyMissed = false;
        return true;
    }

    /// Serves all groups, even after one fails. The last failure ends the turn.
    private void serveAll() {
        Throwable failure = null;
        for (CompletionGroup group : groups.values()) {
            try {
                serve(group);
            } catch (RuntimeException | Error e) {
                failure = e;
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /// The channel was closed from outside: groups no longer get events.
    private void ended() {
        if (!stopping) {
            groups.values()
                    .forEach(group -> group.failNow(
                            new IllegalStateException("the thread " + thread.name() + " has lost its channel")));
        }
    }

    /// Serves the queued groups. One that must be served again is queued behind the events of the others.
    private void serveWaiting() {
        for (int left = waiting.size(); left > 0; left--) {
            CompletionGroup group = waiting.poll();
            if (group != null) {
                serve(group);
            }
        }
    }

    private @Nullable CompletionGroup awaitReady() {
        CompletionQueue queue = channel.awaitEvent(nextSleep());
        for (Iterator<CompletionGroup> i = later.iterator(); i.hasNext(); ) {
            waiting.add(i.next());
            i.remove();
        }
        if (queue == null) {
            return null;
        }
        pace.restart();
        try {
            queue.acknowledge(1);
        } catch (IllegalArgumentException e) {
            return null; // The queue was closed meanwhile, which acknowledges everything.
        }
        return groups.get(queue);
    }

    private Duration nextSleep() {
        if (!waiting.isEmpty()) {
            return Duration.ZERO;
        }
        return later.isEmpty() ? longestSleep : Duration.ofNanos(pace.nextNanos(System.nanoTime()));
    }

    @SuppressWarnings("ThreadPriorityCheck") // the thread that polls instead needs the processor
    private void serve(CompletionGroup group) {
        if (!group.serveArmed()) {
            waiting.add(group);
            Thread.yield();
        }
    }

    /// Stops the thread and waits for its end; called in that thread, it only stops it. The groups are already
    /// closed.
    @Override
    public void close() {
        stopping = true;
        channel.wakeUp();
        thread.join();
        channel.close();
    }
}
