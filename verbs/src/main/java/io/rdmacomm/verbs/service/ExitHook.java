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
    /// How long the ends of all connections may take together.
    public static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final SafeLogger LOGGER = SafeLogger.of(ExitHook.class);
    private static final String RUNNER = "java.lang.ApplicationShutdownHooks";
    /// These bits of an identity hash code place an object at the end of the hash table of the hooks, up to 128 hooks.
    private static final int LAST = 0x7f;
    private static final long LOOK_NANOS = 5_000_000;

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

    /// Does something before a connection is ended, if it is still known.
    ///
    /// @param first runs in a virtual thread, and may block for up to [#MOST_NANOS]
    public static void before(Object connection, Runnable first) {
        CONNECTIONS.computeIfPresent(connection, (_, known) -> new Ending(first, known.end()));
    }

    /// The connection has ended.
    public static void remove(Object connection) {
        CONNECTIONS.remove(connection);
    }

    /// Does something after all connections were ended.
    public static void afterwards(Runnable action) {
        AFTERWARDS.add(action);
        register();
    }

    private static void register() {
        if (REGISTERED.get() || REGISTERED.getAndSet(true)) {
            return;
        }
        try {
            Runtime.getRuntime().addShutdownHook(lastThread());
        } catch (IllegalStateException e) {
            // A connection that is made by a hook of the program ends with the process.
            LOGGER.log(System.Logger.Level.DEBUG, "the JVM is ending", e);
        }
    }

    /// The JVM starts all hooks at once, and then waits for each, in the order of a hash table by identity. It gets to
    /// this one last.
    private static Thread lastThread() {
        Thread thread;
        do {
            thread = new Thread(ExitHook::run, "rdmacomm-exit");
        } while ((System.identityHashCode(thread) & LAST) != LAST);
        return thread;
    }

    private static void run() {
        awaitOthers();
        endAll();
        AFTERWARDS.forEach(ExitHook::attempt);
    }

    /// Waits until the JVM waits for this thread. It would not end earlier, so this delays nobody. If a JVM waits for
    /// its hooks in another way, this returns early, and connections may end before the hooks do.
    private static void awaitOthers() {
        Thread self = Thread.currentThread();
        Thread runner = runner();
        while (runner != null && !isJoining(runner, self)) {
            // Nobody wakes up a thread for this.
            LockSupport.parkNanos(LOOK_NANOS);
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

    /// Whether a thread waits in [Thread#join()] for this one, which wakes it for a look. It cannot go on while this
    /// thread has the lock, so then it is blocked.
    private static boolean isJoining(Thread runner, Thread self) {
        synchronized (self) {
            self.notifyAll();
            return runner.getState() == Thread.State.BLOCKED || !runner.isAlive();
        }
    }

    /// In threads of their own: one that has to wait, or for a lock that is never released, holds up no other.
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
            // Nobody interrupts it but the program, which then does not want to wait.
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
