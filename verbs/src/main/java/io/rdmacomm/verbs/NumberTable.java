package io.rdmacomm.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Finds an object by its number or handle without a lock or an allocation, because polling looks up the
/// queue pair of each completion.
///
/// Uses open addressing. A used slot keeps its number until the whole table is replaced, so that readers need no
/// lock. Removing an object clears only the value, and the next object with that number takes the slot. The cost of
/// adding and removing does not depend on the number of objects.
final class NumberTable<T> {
    private static final int LEAST_SLOTS = 16;
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(Object[].class);
    /// The value of a slot whose object was removed.
    private static final Object GONE = new Object();

    private static final class Slots {
        private final long[] numbers;
        private final @Nullable Object[] values;

        Slots(int count) {
            int length = Math.max(LEAST_SLOTS, Integer.highestOneBit(count) * 4);
            numbers = new long[length];
            values = new @Nullable Object[length];
        }

        @Nullable
        Object value(int slot) {
            return VALUE.getAcquire(values, slot);
        }

        /// The slot of `number`, or the free one where it would be.
        int slot(long number) {
            int mask = numbers.length - 1;
            long mixed = number * 0x9E37_79B9_7F4A_7C15L;
            int slot = (int) (mixed >>> 32) & mask;
            while (value(slot) != null && numbers[slot] != number) {
                slot = (slot + 1) & mask;
            }
            return slot;
        }

        void put(int slot, long number, Object value) {
            numbers[slot] = number;
            VALUE.setRelease(values, slot, value);
        }
    }

    private volatile Slots slots = new Slots(0);
    private int present;
    private int used;

    @SuppressWarnings("unchecked") // put takes nothing else
    @Nullable
    T find(long number) {
        Slots current = slots;
        Object found = current.value(current.slot(number));
        return isGone(found) ? null : (T) found;
    }

    /// Adds an object. Replaces the one with the same number, if any.
    synchronized void put(long number, T value) {
        Slots current = slots;
        int slot = current.slot(number);
        Object before = current.value(slot);
        if (before == null && 2 * (used + 1) > current.values.length) {
            current = copy(current);
            slot = current.slot(number);
        }
        used += before == null ? 1 : 0;
        present += before == null || isGone(before) ? 1 : 0;
        current.put(slot, number, value);
        slots = current;
    }

    /// Removes an object, unless another one has taken its number.
    synchronized void remove(long number, T value) {
        Slots current = slots;
        int slot = current.slot(number);
        if (value.equals(current.value(slot))) {
            present--;
            current.put(slot, number, GONE);
        }
    }

    @SuppressWarnings("ReferenceEquality") // there is one
    private static boolean isGone(@Nullable Object value) {
        return value == GONE;
    }

    /// The number of slots.
    int slotCount() {
        return slots.values.length;
    }

    private Slots copy(Slots from) {
        Slots to = new Slots(present + 1);
        for (int i = 0; i < from.values.length; i++) {
            Object value = from.values[i];
            if (value != null && !isGone(value)) {
                to.put(to.slot(from.numbers[i]), from.numbers[i], value);
            }
        }
        used = present;
        return to;
    }
}
