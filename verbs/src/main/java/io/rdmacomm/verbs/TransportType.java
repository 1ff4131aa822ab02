package io.rdmacomm.verbs;

/// The transport of a device (`enum ibv_transport_type`).
public enum TransportType {
    /// InfiniBand or RoCE.
    INFINIBAND(0),
    /// iWARP.
    IWARP(1),
    /// Cisco usNIC.
    USNIC(2),
    /// Cisco usNIC over UDP.
    USNIC_UDP(3),
    /// Another transport.
    UNSPECIFIED(4),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final TransportType[] VALUES = values();

    private final int code;

    TransportType(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static TransportType of(int code) {
        return Codes.find(VALUES, TransportType::code, code, UNKNOWN);
    }
}
