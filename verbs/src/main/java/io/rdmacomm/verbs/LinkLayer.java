package io.rdmacomm.verbs;

/// The link layer of a port (ibv_query_port(3)).
public enum LinkLayer {
    /// Not specified, which means InfiniBand.
    UNSPECIFIED(0),
    /// InfiniBand.
    INFINIBAND(1),
    /// Ethernet: RoCE or iWARP.
    ETHERNET(2),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final LinkLayer[] VALUES = values();

    private final int code;

    LinkLayer(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static LinkLayer of(int code) {
        return Codes.find(VALUES, LinkLayer::code, code, UNKNOWN);
    }
}
