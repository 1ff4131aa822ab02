package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// Finds an object by its number or handle without a lock or an allocation, because polling looks up the
/// queue pair of each completion.
///
/// Open addressing in arrays that writers replace and readers only read.
final class NumberTable<T> {
    private static final class Slots {
        private final long[] numbers;
        private final @Nullable Object[] values;

        Slots(int count) {
            int length = Math.max(16, Integer.highestOneBit(count) * 4);
            numbers = new long[length];
            values = new @Nullable Object[length];
        }

        int count() {
            int count = 0;
            for (Object value : values) {
                count += value == null ? 0 : 1;
            }
            return count;
        }

        /// The slot of `number`, or the free one where it would be.
        int slot(long number) {
            int mask = numbers.length - 1;
            long mixed = number * 0x9E37_79B9_7F4A_7C15L;
            int slot = (int) (mixed >>> 32) & mask;
            while (values[slot] != null && numbers[slot] != number) {
                slot = (slot + 1) & mask;
            }
            return slot;
        }

        void put(long number, Object value) {
            int slot = slot(number);
            numbers[slot] = number;
            values[slot] = value;
        }
    }

    private volatile Slots slots = new Slots(0);

    @SuppressWarnings("unchecked") // put takes nothing else
    @Nullable
    T find(long number) {
        Slots current = slots;
        return (T) current.values[current.slot(number)];
    }

    synchronized void put(long number, T value) {
        Slots next = copyWithout(null);
        next.put(number, value);
        slots = next;
    }

    synchronized void remove(T value) {
        slots = copyWithout(value);
    }

    private Slots copyWithout(@Nullable T gone) {
        Slots from = slots;
        Slots to = new Slots(from.count() + 1);
        for (int i = 0; i < from.values.length; i++) {
            Object value = from.values[i];
            if (value != null && !value.equals(gone)) {
                to.put(from.numbers[i], value);
            }
        }
        return to;
    }
}
