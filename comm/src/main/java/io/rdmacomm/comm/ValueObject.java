package io.rdmacomm.comm;

import org.jspecify.annotations.Nullable;

/// Base class of options. Two objects of the same class are equal if their values are.
///
/// The values are a record that users do not see, so adding one breaks no program.
abstract class ValueObject<V extends Record> {
    final V values;

    ValueObject(V values) {
        this.values = values;
    }

    @Override
    public final boolean equals(@Nullable Object other) {
        return other instanceof ValueObject<?> that && that.getClass() == getClass() && values.equals(that.values);
    }

    @Override
    public final int hashCode() {
        return values.hashCode();
    }

    @Override
    public final String toString() {
        String text = values.toString();
        return getClass().getSimpleName() + text.substring(text.indexOf('['));
    }
}
