package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Waits for the events of many completion channels at once, as epoll(7) does for files. In C, a program would wait
/// for the descriptors of the channels (ibv_get_cq_event(3), "non-blocking"). A message wakes only the waiting
/// thread, without a helper thread in between. Thread-safe.
///
/// A channel may belong to several groups, and threads may wait on the channel itself, too. To miss no completion,
/// first arm the completion queues of all members and poll them until they are empty. Then repeat: [#await], and for
/// the channel that it returns [CompletionChannel#awaitEvent] with a timeout of zero, [CompletionQueue#acknowledge],
/// [CompletionQueue#arm], and poll until the queue is empty. `awaitEvent` finds nothing if another thread has taken
/// the event.
///
/// If the same thread always waits for several completion queues, give them one channel instead. A group is for queues
/// that were created before it was known which thread waits for them.
public final class WaitGroup implements Resource {
    private static final String ADD = "add completion channel to wait group";

    private final Context context;
    private final WaitGroupDriver driver;
    private final Lifetime lifetime;
    /// Closing the group excludes all changes. Changes of one channel exclude each other, but those of different
    /// channels do not: when a thousand connections end, a thread that adds another must not wait for all of them.
    private final ReentrantReadWriteLock changing = new ReentrantReadWriteLock();

    private final Map<CompletionChannel, Boolean> members = new ConcurrentHashMap<>();
    private final NumberTable<CompletionChannel> byHandle = new NumberTable<>();
    private final Consumer<CompletionChannel> remover = this::remove;

    private WaitGroup(Context context, WaitGroupDriver driver) {
        this.context = context;
        this.driver = driver;
        this.lifetime = new Lifetime(this, context.lifetime(), driver, this::release);
    }

    /// Creates a group without members.
    ///
    /// @throws VerbException EMFILE if the process has no file descriptor left; or the errno of the device
    public static WaitGroup create(Context context) {
        context.lifetime().checkOpen();
        WaitGroup group = new WaitGroup(context, context.driver().createWaitGroup());
        context.lifetime().adopt(group.lifetime);
        return group;
    }

    /// The open device that it belongs to.
    public Context context() {
        return context;
    }

    /// Adds a channel; does nothing if it is a member. Waiting threads take notice. Closing a channel removes it.
    ///
    /// @throws VerbException EINVAL if the channel belongs to another context; ENOSPC if the system has no room
    /// @throws IllegalStateException if the group or the channel is closed
    public void add(CompletionChannel channel) {
        if (!channel.context().equals(context)) {
            throw new VerbException(ADD, Errno.EINVAL, channel + " belongs to another context than " + this);
        }
        changing.readLock().lock();
        try {
            lifetime.checkOpen();
            var _ = members.computeIfAbsent(channel, this::adopt);
        } finally {
            changing.readLock().unlock();
        }
    }

    private Boolean adopt(CompletionChannel channel) {
        boolean added = false;
        // First, so that a thread that closes the channel finds this group.
        channel.beforeClose(remover);
        try {
            channel.lifetime().checkOpen();
            enter(channel);
            added = true;
        } finally {
            if (!added) {
                channel.notBeforeClose(remover);
            }
        }
        return added;
    }

    private void enter(CompletionChannel channel) {
        boolean entered = false;
        try {
            byHandle.put(channel.driver().handle(), channel);
            driver.add(channel.driver());
            entered = true;
        } finally {
            if (!entered) {
                leave(channel);
            }
        }
    }

    /// Removes a channel; does nothing if it is not a member.
    public void remove(CompletionChannel channel) {
        changing.readLock().lock();
        try {
            var _ = members.computeIfPresent(channel, this::abandon);
        } finally {
            changing.readLock().unlock();
        }
    }

    private @Nullable Boolean abandon(CompletionChannel channel, Boolean member) {
        leave(channel);
        // Last: until then a thread that closes the channel waits here.
        channel.notBeforeClose(remover);
        return null;
    }

    /// Removes the channel from the group even if a step fails.
    private void leave(CompletionChannel channel) {
        byHandle.remove(channel.driver().handle(), channel);
        Closer.step(this, () -> driver.remove(channel.driver()));
    }

    /// Waits until a member has an event. Members with events take turns. Blocks; suits virtual threads. Closing the
    /// group ends the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the channel, whose event the caller takes; null after the timeout or [#wakeUp()]
    /// @throws RdmaInterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the group is closed, or is being closed
    public @Nullable CompletionChannel await(Duration timeout) {
        lifetime.checkOpen();
        long begin = System.nanoTime();
        long nanos = timeout.toNanos();
        long left = nanos;
        while (true) {
            long handle = await(left);
            if (handle == 0) {
                lifetime.checkOpen();
                return null;
            }
            CompletionChannel channel = byHandle.find(handle);
            if (channel != null) {
                return channel;
            }
            // It was removed meanwhile.
            left = Math.max(0, nanos - (System.nanoTime() - begin));
        }
    }

    private long await(long nanos) {
        try {
            return driver.await(nanos);
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while waiting for an event of " + this, e);
        }
    }

    /// Ends the current wait in [#await(Duration)], or the next one if no thread waits. Several calls before that count
    /// as one. Never blocks; does nothing if the group is closed.
    public void wakeUp() {
        if (isOpen()) {
            driver.wakeUp();
        }
    }

    private void release() {
        changing.writeLock().lock();
        try {
            for (CompletionChannel channel : members.keySet()) {
                remove(channel);
            }
        } finally {
            changing.writeLock().unlock();
        }
        driver.close();
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "wait group on " + context;
    }
}
