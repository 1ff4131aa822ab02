package io.rdmacomm.verbs;

import java.util.function.ToIntFunction;

/// Finds the constant with a code of the C API.
final class Codes {
    private Codes() {}

    /// The value with this code, or `unknown`.
    static <T> T find(T[] values, ToIntFunction<T> code, int wanted, T unknown) {
        for (T value : values) {
            if (code.applyAsInt(value) == wanted) {
                return value;
            }
        }
        return unknown;
    }
}
