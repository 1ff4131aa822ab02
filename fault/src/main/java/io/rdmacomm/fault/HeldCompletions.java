package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/// Completions that are reported later, in the order in which they came. One is never reported before an earlier
/// one of the same queue pair, because completions of one queue pair keep their order. For one thread at a time,
/// except [#nextDue()].
final class HeldCompletions {
    static final long NEVER = Long.MAX_VALUE;

    private final List<Held> held = new ArrayList<>();
    private volatile long nextDue = NEVER;

    /// @param due a [System#nanoTime()]
    private record Held(int queuePair, long due, MemorySegment completion) {}

    /// The [System#nanoTime()] at which the next one is due; [#NEVER] if there is none. On any thread.
    long nextDue() {
        return nextDue;
    }

    /// Whether there is one of this queue pair.
    boolean has(int queuePair) {
        for (int i = 0; i < held.size(); i++) {
            if (held.get(i).queuePair == queuePair) {
                return true;
            }
        }
        return false;
    }

    /// Holds the completion at `at` until `due`, or longer if earlier ones of its queue pair are held.
    void add(int queuePair, long due, MemorySegment completions, long at) {
        long last = due;
        for (Held earlier : held) {
            if (earlier.queuePair == queuePair && earlier.due - last > 0) {
                last = earlier.due;
            }
        }
        byte[] copy = completions.asSlice(at, CompletionLayout.BYTES).toArray(JAVA_BYTE);
        held.add(new Held(queuePair, last, MemorySegment.ofArray(copy)));
        findNextDue();
    }

    /// Moves up to `max` completions that are due to the beginning of `into`.
    ///
    /// @return the number of moved completions
    int release(MemorySegment into, int max) {
        if (held.isEmpty()) {
            return 0;
        }
        long now = System.nanoTime();
        int count = 0;
        Iterator<Held> all = held.iterator();
        while (count < max && all.hasNext()) {
            Held next = all.next();
            if (next.due - now <= 0) {
                MemorySegment.copy(
                        next.completion, 0, into, (long) count * CompletionLayout.BYTES, CompletionLayout.BYTES);
                all.remove();
                count++;
            }
        }
        findNextDue();
        return count;
    }

    private void findNextDue() {
        long first = NEVER;
        for (Held one : held) {
            first = first == NEVER || one.due - first < 0 ? one.due : first;
        }
        nextDue = first;
    }
}
