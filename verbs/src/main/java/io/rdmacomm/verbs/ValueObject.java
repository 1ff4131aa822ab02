package io.rdmacomm.verbs;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.StringJoiner;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Base class of options and attributes. The classes are final and their fields private, so a new field breaks no
/// program.
///
/// Fields are not final only so that [#with] can change a copy; nothing else changes them.
///
/// @param <T> the class itself
abstract class ValueObject<T extends ValueObject<T>> implements Cloneable {
    /// The names and values of all fields, alternating. Two objects are equal if these are.
    abstract @Nullable Object[] fields();

    /// Rejects values that are out of their range.
    void check() {}

    /// A copy, changed and checked.
    final T with(Consumer<T> change) {
        T copy = copy();
        change.accept(copy);
        copy.check();
        // Any thread that gets the copy sees all its fields, as if they were final.
        VarHandle.releaseFence();
        return copy;
    }

    @SuppressWarnings("unchecked") // a clone is of the same class
    private T copy() {
        try {
            return (T) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public final boolean equals(@Nullable Object other) {
        return other instanceof ValueObject<?> that
                && that.getClass() == getClass()
                && Arrays.equals(fields(), that.fields());
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(fields());
    }

    @Override
    public final String toString() {
        @Nullable Object[] fields = fields();
        StringJoiner text = new StringJoiner(", ", getClass().getSimpleName() + "[", "]");
        for (int i = 0; i < fields.length; i += 2) {
            text.add(fields[i] + "=" + fields[i + 1]);
        }
        return text.toString();
    }
}
