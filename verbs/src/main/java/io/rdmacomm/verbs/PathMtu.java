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
