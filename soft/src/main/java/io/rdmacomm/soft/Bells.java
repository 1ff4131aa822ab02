package io.rdmacomm.soft;

import io.rdmacomm.soft.linux.Futex;
import io.rdmacomm.soft.mapped.Bell;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The bells of a context. They are used again, but not freed: a peer that was stopped may ring one much later.
///
/// A process that stops or dies between a completion and the bell, or destroys shared memory, leaves threads asleep.
/// So the engine looks at the bells where threads sleep, once a second.
final class Bells {
    private static final SafeLogger LOGGER = SafeLogger.of(Bells.class);
    private static final long CHECK_NANOS = 1_000_000_000;
    private static final long LOOK_NANOS = 100_000;

    private final @Nullable ControlFile file;
    private final Runnable wakeEngine;
    private final Map<Long, QueueBell> all = new ConcurrentHashMap<>();
    private final ArrayDeque<QueueBell> unused = new ArrayDeque<>();
    private boolean complained;
    private volatile boolean watching;
    private long due = System.nanoTime();

    /// @param file null if peers do not share memory, so that there are no bells
    /// @param wakeEngine makes the engine call [#onTime]
    Bells(@Nullable ControlFile file, Runnable wakeEngine) {
        if (file != null && !Futex.isUsable()) {
            LOGGER.log(System.Logger.Level.DEBUG, "without native access, sleeping threads are woken by messages");
        }
        this.file = file;
        this.wakeEngine = wakeEngine;
    }

    /// A bell that nobody else has.
    ///
    /// @return null if there is none, or no room; then each event needs a message
    synchronized @Nullable QueueBell take() {
        QueueBell bell = unused.poll();
        if (bell != null || file == null) {
            return bell;
        }
        try {
            Bell made = Bell.create(file);
            bell = new QueueBell(file.memory(), made, this::watch);
            all.put(made.offset(), bell);
            return bell;
        } catch (IOException e) {
            if (!complained) {
                complained = true;
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "no room for a bell: each message to sleeping threads costs two",
                        e);
            }
            return null;
        }
    }

    /// Takes a bell back that no queue is armed with any more.
    synchronized void giveBack(@Nullable QueueBell bell) {
        if (bell != null) {
            unused.add(bell);
        }
    }

    private void watch() {
        if (!watching) {
            watching = true;
            wakeEngine.run();
        }
    }

    /// Checks the bells when it is time; the engine.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        if (!watching) {
            return Long.MAX_VALUE;
        }
        long now = System.nanoTime();
        if (due - now <= 0) {
            due = now + CHECK_NANOS;
            // First: a thread that enters after its bell was checked makes the engine continue.
            watching = false;
            boolean again = true;
            try {
                again = check();
            } finally {
                if (again) {
                    watching = true;
                }
            }
        }
        return watching ? due - now : Long.MAX_VALUE;
    }

    private boolean check() {
        boolean any = false;
        for (QueueBell bell : all.values()) {
            any |= bell.check();
        }
        return any;
    }

    /// Waits until no thread sleeps any more, for a moment: the control file is about to be unmapped.
    void close() {
        long end = System.nanoTime() + CHECK_NANOS;
        for (QueueBell bell : all.values()) {
            while (bell.hasSleepers() && System.nanoTime() - end < 0) {
                bell.wake();
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }

    /// A peer has rung the bell at this offset, and a thread sleeps for this message, or cannot be woken by the peer;
    /// the engine.
    void rung(long offset) {
        QueueBell bell = all.get(offset);
        if (bell != null) {
            bell.wake();
            bell.look();
        }
    }
}
