package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.Bell;
import io.rdmacomm.soft.mapped.ControlFile;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The bells of a context. They are used again, but not freed: a peer that was stopped may ring one much later.
///
/// A process that stops or dies between a completion and the bell, or destroys shared memory, leaves threads asleep.
/// So the engine looks at the bells where threads sleep, once a second.
final class Bells {
    private static final long CHECK_NANOS = 1_000_000_000;

    private final @Nullable ControlFile file;
    private final Runnable wakeEngine;
    private final Map<Long, QueueBell> all = new ConcurrentHashMap<>();
    private final ArrayDeque<QueueBell> unused = new ArrayDeque<>();
    private volatile boolean watching;
    private long due = System.nanoTime();

    /// @param file null if peers do not share memory, so that there are no bells
    /// @param wakeEngine makes the engine call [#onTime]
    Bells(@Nullable ControlFile file, Runnable wakeEngine) {
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
            boolean any = false;
            for (QueueBell bell : all.values()) {
                any |= bell.check();
            }
            if (any) {
                watching = true;
            }
        }
        return watching ? due - now : Long.MAX_VALUE;
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
