package io.rdmacomm.verbs;

/// The largest payload of one packet (`enum ibv_mtu`).
public enum PathMtu {
    /// 256 bytes.
    MTU_256(1),
    /// 512 bytes.
    MTU_512(2),
    /// 1024 bytes.
    MTU_1024(3),
    /// 2048 bytes.
    MTU_2048(4),
    /// 4096 bytes.
    MTU_4096(5);

    private final int code;

    PathMtu(int code) {
        this.code = code;
    }

    /// The MTU with this payload, the inverse of [#bytes()].
    ///
    /// @param bytes 256, 512, 1024, 2048 or 4096
    /// @throws IllegalArgumentException if it is another number
    public static PathMtu ofBytes(int bytes) {
        for (PathMtu mtu : values()) {
            if (mtu.bytes() == bytes) {
                return mtu;
            }
        }
        throw new IllegalArgumentException(bytes + " bytes is not an MTU; choose 256, 512, 1024, 2048 or 4096");
    }

    /// The MTU with this value in the C API, the inverse of [#code()].
    ///
    /// @param code 1 to 5
    /// @throws IllegalArgumentException if it is another number
    public static PathMtu ofCode(int code) {
        return values()[Checks.range("MTU code", code, 1, values().length) - 1];
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The payload in bytes.
    public int bytes() {
        return 128 << code;
    }

    PathMtu min(PathMtu other) {
        return code <= other.code ? this : other;
    }
}
