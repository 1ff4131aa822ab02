package io.rdmacomm.mesh.collective;

/// How a reduction combines the numbers of the ranks, as the operators of Java and [Math] do.
public enum Reduction {
    /// `a + b`.
    SUM(1),
    /// `a * b`.
    PRODUCT(2),
    /// `Math.min(a, b)`: NaN if one of them is NaN, and -0.0 is less than 0.0.
    MIN(3),
    /// `Math.max(a, b)`: NaN if one of them is NaN, and -0.0 is less than 0.0.
    MAX(4);

    private final int code;

    Reduction(int code) {
        this.code = code;
    }

    /// Its number on the wire.
    int code() {
        return code;
    }
}
