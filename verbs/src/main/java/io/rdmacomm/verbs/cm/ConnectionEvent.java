package io.rdmacomm.verbs.cm;

/// An event of the connection manager (`enum rdma_cm_event_type`, rdma_get_cm_event(3)).
///
/// [#of(int)] never throws: an unlisted code becomes [#UNKNOWN].
public enum ConnectionEvent {
    /// The destination was mapped to a device.
    ADDRESS_RESOLVED(0),
    /// The destination could not be mapped to a device.
    ADDRESS_ERROR(1),
    /// A route to the destination was found.
    ROUTE_RESOLVED(2),
    /// No route to the destination was found.
    ROUTE_ERROR(3),
    /// A peer requests a connection from a listener.
    CONNECT_REQUEST(4),
    /// The peer replied to an identifier without a queue pair.
    CONNECT_RESPONSE(5),
    /// Connecting failed.
    CONNECT_ERROR(6),
    /// The peer did not reply.
    UNREACHABLE(7),
    /// The peer rejected the connection.
    REJECTED(8),
    /// The connection is established.
    ESTABLISHED(9),
    /// The connection ended.
    DISCONNECTED(10),
    /// The device was removed.
    DEVICE_REMOVAL(11),
    /// A multicast group was joined.
    MULTICAST_JOIN(12),
    /// A multicast group could not be joined or was left.
    MULTICAST_ERROR(13),
    /// The device's network address changed.
    ADDRESS_CHANGE(14),
    /// The queue pair may be reused.
    TIMEWAIT_EXIT(15),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final ConnectionEvent[] VALUES = values();

    private final int code;

    ConnectionEvent(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static ConnectionEvent of(int code) {
        for (ConnectionEvent event : VALUES) {
            if (event.code == code) {
                return event;
            }
        }
        return UNKNOWN;
    }
}
