package io.rdmacomm.verbs;

/// The state of a port (`enum ibv_port_state`, ibv_query_port(3)).
public enum PortState {
    /// No state.
    NOP(0),
    /// No link.
    DOWN(1),
    /// The link is up, but not yet configured by the subnet manager.
    INIT(2),
    /// Configured, not yet active.
    ARMED(3),
    /// Ready for traffic.
    ACTIVE(4),
    /// Active, but the link is being restored.
    ACTIVE_DEFER(5),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final PortState[] VALUES = values();

    private final int code;

    PortState(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static PortState of(int code) {
        return Codes.find(VALUES, PortState::code, code, UNKNOWN);
    }
}
