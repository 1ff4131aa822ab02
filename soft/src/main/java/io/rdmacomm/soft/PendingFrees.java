package io.rdmacomm.soft;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Memory that a peer may still write to: it was stopped in the middle of an operation on a queue pair that has
/// been reset or closed. It is not reused until the peer resumes or dies.
///
/// No event reports that a peer resumes, so this checks when memory is to be freed, a region is closed, or a peer
/// has died. Thread-safe; takes no time while nothing is held.
final class PendingFrees {
    /// The memory that one peer may write to.
    ///
    /// @param released whether the peer can no longer write to it
    private record Hold(BooleanSupplier released, List<Object> places) {}

    /// Memory that its owner no longer needs.
    private record Freed(Object place, Runnable free) {}

    private final List<Hold> holds = new ArrayList<>();
    private final List<Freed> waiting = new ArrayList<>();

    /// Loads the classes that free memory now: a process without file descriptors cannot load a class from a
    /// folder, and must still be able to free its memory.
    PendingFrees() {
        free(this, waiting::clear);
    }

    /// Keeps `places` from being freed.
    ///
    /// @param released whether the peer can no longer write to them; once true, stays true
    synchronized void hold(BooleanSupplier released, Object... places) {
        holds.add(new Hold(released, List.of(places)));
    }

    /// Runs `free`, which makes `place` available to others: at once, or when it is no longer held.
    synchronized void free(Object place, Runnable free) {
        waiting.add(new Freed(place, free));
        freeReleased();
    }

    /// Frees the places that are no longer held.
    ///
    /// @return whether nothing is held
    synchronized boolean freeReleased() {
        Iterator<Hold> all = holds.iterator();
        while (all.hasNext()) {
            if (all.next().released.getAsBoolean()) {
                all.remove();
            }
        }
        for (Iterator<Freed> each = waiting.iterator(); each.hasNext(); ) {
            Freed freed = each.next();
            if (!isHeld(freed.place)) {
                each.remove();
                freed.free.run();
            }
        }
        return holds.isEmpty();
    }

    private boolean isHeld(Object place) {
        for (Hold hold : holds) {
            if (hold.places.contains(place)) {
                return true;
            }
        }
        return false;
    }
}
