package io.rdmacomm.verbs;

/// What a port's packets travel in (ibv_query_port(3)).
public enum LinkLayer {
    /// Not stated: InfiniBand.
    UNSPECIFIED(0),
    /// InfiniBand.
    INFINIBAND(1),
    /// Ethernet: RoCE or iWARP.
    ETHERNET(2),
    /// A number that this list does not know.
    UNKNOWN(-1);

    private static final LinkLayer[] VALUES = values();

    private final int code;

    LinkLayer(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }

    /// The constant of `code`, or [#UNKNOWN].
    public static LinkLayer of(int code) {
        for (LinkLayer value : VALUES) {
            if (value.code == code) {
                return value;
            }
        }
        return UNKNOWN;
    }
}
