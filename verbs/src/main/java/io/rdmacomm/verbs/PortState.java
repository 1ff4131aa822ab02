package io.rdmacomm.verbs;

/// The state of a port (`enum ibv_port_state`, ibv_query_port(3)).
public enum PortState {
    /// No state.
    NOP(0),
    /// No link.
    DOWN(1),
    /// The link is up, the subnet manager has not configured it.
    INIT(2),
    /// Configured, not yet active.
    ARMED(3),
    /// Ready for traffic.
    ACTIVE(4),
    /// Active, with a link that is being restored.
    ACTIVE_DEFER(5),
    /// A number that this list does not know.
    UNKNOWN(-1);

    private static final PortState[] VALUES = values();

    private final int code;

    PortState(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }

    /// The constant of `code`, or [#UNKNOWN].
    public static PortState of(int code) {
        for (PortState value : VALUES) {
            if (value.code == code) {
                return value;
            }
        }
        return UNKNOWN;
    }
}
