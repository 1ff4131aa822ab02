package io.rdmacomm.mesh.collective;

/// The number types of [Elements]. Numbers travel in the byte order of the machine, which all nodes of a mesh
/// must share.
public enum ElementType {
    /// Bytes without a meaning: they can be moved, not reduced.
    BYTE(1, 1),
    /// `int`; sums and products wrap around.
    INT(2, Integer.BYTES),
    /// `long`; sums and products wrap around.
    LONG(3, Long.BYTES),
    /// `float`.
    FLOAT(4, Float.BYTES),
    /// `double`.
    DOUBLE(5, Double.BYTES);

    private final int code;
    private final int bytes;

    ElementType(int code, int bytes) {
        this.code = code;
        this.bytes = bytes;
    }

    /// The length of one element in bytes.
    public int bytes() {
        return bytes;
    }

    /// Its number on the wire.
    int code() {
        return code;
    }
}
