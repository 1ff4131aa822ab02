package io.rdmacomm.verbs.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Ends connections in order when the JVM ends, as the kernel does for the sockets of a process: after all other
/// shutdown hooks, which may still use them. Not when the process is killed.
public final class ExitHook {
    /// The longest time for ending all connections.
    public static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final SafeLogger LOGGER = SafeLogger.of(ExitHook.class);
    private static final String RUNNER = "java.lang.ApplicationShutdownHooks";
    /// The size of the hash table of the hooks, an [java.util.IdentityHashMap], once it has had so many. The table
    /// has two words for each, and grows when a third of the words is in use.
    private static final int TABLE = 2048;

    private static final int MANY = TABLE / 6 + 1;
    private static final long LOOK_NANOS = 5_000_000;
    /// So many looks in a row must show the same: for a moment, a thread is also blocked when another hook ends that it
    /// has waited for.
    private static final int LOOKS = 3;

    private static final Map<Object, Ending> CONNECTIONS = new ConcurrentHashMap<>();
    private static final List<Runnable> AFTERWARDS = new CopyOnWriteArrayList<>();
    private static final AtomicBoolean REGISTERED = new AtomicBoolean();

    /// @param before runs first; null for nothing
    /// @param end ends the connection
    private record Ending(@Nullable Runnable before, Runnable end) {
        void run() {
            if (before != null) {
                before.run();
            }
            end.run();
        }
    }

    private ExitHook() {}

    /// Ends a connection when the JVM ends.
    ///
    /// @param connection for [#before] and [#remove]
    /// @param end ends it; runs in a virtual thread, and may block for a moment
    public static void add(Object connection, Runnable end) {
        CONNECTIONS.put(connection, new Ending(null, end));
        register();
    }

    /// Runs an action before a connection is ended, if the connection was added and not removed.
    ///
    /// @param first runs in a virtual thread, and may block for up to [#MOST_NANOS]
    public static void before(Object connection, Runnable first) {
        CONNECTIONS.computeIfPresent(connection, (_, known) -> new Ending(first, known.end()));
    }

    /// Removes a connection that has ended.
    public static void remove(Object connection) {
        CONNECTIONS.remove(connection);
    }

    /// Runs an action after all connections were ended.
    public static void afterwards(Runnable action) {
        AFTERWARDS.add(action);
        register();
    }

    private static void register() {
        if (REGISTERED.get() || REGISTERED.getAndSet(true)) {
            return;
        }
        try {
            enlargeTable();
            Runtime.getRuntime().addShutdownHook(lastThread());
        } catch (IllegalStateException e) {
            // A connection that is made by a hook of the program ends with the process.
            LOGGER.log(System.Logger.Level.DEBUG, "the JVM is ending", e);
        }
    }

    /// Makes the hash table of the hooks large by adding many for a moment. In the small table that a JVM begins with,
    /// a hook of the program often has the last place already.
    private static void enlargeTable() {
        List<Thread> many = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            Thread thread = new Thread();
            many.add(thread);
            Runtime.getRuntime().addShutdownHook(thread);
        }
        for (Thread thread : many) {
            Runtime.getRuntime().removeShutdownHook(thread);
        }
    }

    /// Creates a hook that the JVM waits for last: it starts all hooks at once, and then waits for each in the
    /// order of a hash table by identity.
    private static Thread lastThread() {
        Thread thread;
        do {
            thread = new Thread(ExitHook::run, "rdmacomm-exit");
        } while (place(System.identityHashCode(thread)) != TABLE - 2);
        return thread;
    }

    /// The place for an identity hash code in that table, and, if it is the last one, in each smaller table.
    private static int place(int hash) {
        return (hash << 1) - (hash << 8) & TABLE - 1;
    }

    private static void run() {
        awaitOthers();
        endAll();
        AFTERWARDS.forEach(ExitHook::attempt);
    }

    /// Waits until the JVM waits for this thread, that is, until the other hooks have ended. The JVM would not end
    /// earlier, so this delays nothing. If a JVM waits for its hooks in another way, this returns early, and
    /// connections may end before the hooks do.
    private static void awaitOthers() {
        Thread self = Thread.currentThread();
        Thread runner = runner();
        int seen = 0;
        while (runner != null && seen < LOOKS) {
            // There is no event to wait for, so this polls.
            LockSupport.parkNanos(LOOK_NANOS);
            seen = isJoining(runner, self) ? seen + 1 : 0;
        }
    }

    /// The thread that has started the hooks.
    private static @Nullable Thread runner() {
        for (Map.Entry<Thread, StackTraceElement[]> each :
                Thread.getAllStackTraces().entrySet()) {
            for (StackTraceElement frame : each.getValue()) {
                if (RUNNER.equals(frame.getClassName())) {
                    return each.getKey();
                }
            }
        }
        return null;
    }

    /// Whether a thread waits in [Thread#join()] for this one. Wakes that thread to find out: it cannot continue
    /// while this thread holds the lock, so it is blocked then.
    private static boolean isJoining(Thread runner, Thread self) {
        synchronized (self) {
            self.notifyAll();
            return runner.getState() == Thread.State.BLOCKED || !runner.isAlive();
        }
    }

    /// Ends each connection in a separate thread, so that one that waits, even for a lock that is never released,
    /// does not delay the others.
    private static void endAll() {
        long begin = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        for (Ending each : CONNECTIONS.values()) {
            threads.add(Thread.ofVirtual().name("rdmacomm-exit").start(() -> attempt(each::run)));
        }
        try {
            for (Thread thread : threads) {
                long left = MOST_NANOS - (System.nanoTime() - begin);
                TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, left));
            }
        } catch (InterruptedException e) {
            // Only the program interrupts this thread, and then it does not want to wait.
            Thread.currentThread().interrupt();
        }
    }

    private static void attempt(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.DEBUG, "at the end of the process", e);
        }
    }
}
