package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.CompletionLayout;
import java.lang.foreign.MemorySegment;

/// Completions that were taken from the device before the program asked for them, in their order. Not safe for
/// use by several threads.
final class SetAside {
    private static final int FEWEST = 16;

    private MemorySegment completions = MemorySegment.NULL;
    private int first;
    private int end;

    /// Adds the completion at `at` in `from`.
    void add(MemorySegment from, long at) {
        if (at(end) == completions.byteSize()) {
            long bytes = at(Math.max(FEWEST, 2 * (end - first)));
            MemorySegment larger = MemorySegment.ofArray(new long[(int) (bytes / Long.BYTES)]);
            MemorySegment.copy(completions, at(first), larger, 0, at(end - first));
            completions = larger;
            end -= first;
            first = 0;
        }
        MemorySegment.copy(from, at, completions, at(end++), CompletionLayout.BYTES);
    }

    /// Moves up to `max` completions, the oldest first, to the beginning of `into`.
    ///
    /// @return how many there were
    int take(MemorySegment into, int max) {
        int count = Math.min(max, end - first);
        if (count > 0) {
            MemorySegment.copy(completions, at(first), into, 0, at(count));
            first += count;
        }
        return count;
    }

    /// Forgets the completions of a queue pair.
    void remove(int queuePairNumber) {
        int kept = first;
        for (int i = first; i < end; i++) {
            if (completions.get(JAVA_INT, at(i) + CompletionLayout.QUEUE_PAIR_NUMBER) != queuePairNumber) {
                MemorySegment.copy(completions, at(i), completions, at(kept++), CompletionLayout.BYTES);
            }
        }
        end = kept;
    }

    private static long at(int index) {
        return (long) index * CompletionLayout.BYTES;
    }
}
