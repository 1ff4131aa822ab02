package io.rdmacomm.verbs.cm;

/// What the connection manager reports (`enum rdma_cm_event_type`, rdma_get_cm_event(3)).
///
/// [#of(int)] never throws: a number that is not listed becomes [#UNKNOWN].
public enum ConnectionEvent {
    /// The destination was mapped to a device.
    ADDRESS_RESOLVED(0),
    /// The destination could not be mapped to a device.
    ADDRESS_ERROR(1),
    /// A route to the destination was found.
    ROUTE_RESOLVED(2),
    /// No route to the destination was found.
    ROUTE_ERROR(3),
    /// A peer asks a listener for a connection.
    CONNECT_REQUEST(4),
    /// The peer answered; the queue pair was not brought up by the connection manager.
    CONNECT_RESPONSE(5),
    /// Connecting failed.
    CONNECT_ERROR(6),
    /// The peer did not answer, or there is none.
    UNREACHABLE(7),
    /// The peer refused.
    REJECTED(8),
    /// The connection stands.
    ESTABLISHED(9),
    /// The connection ended.
    DISCONNECTED(10),
    /// The device went away.
    DEVICE_REMOVAL(11),
    /// A multicast group was joined.
    MULTICAST_JOIN(12),
    /// A multicast group could not be joined or was left.
    MULTICAST_ERROR(13),
    /// The device's network address changed.
    ADDRESS_CHANGE(14),
    /// The queue pair may be reused.
    TIMEWAIT_EXIT(15),
    /// A number that this list does not know.
    UNKNOWN(-1);

    private static final ConnectionEvent[] VALUES = values();

    private final int code;

    ConnectionEvent(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }

    /// The constant of `code`, or [#UNKNOWN].
    public static ConnectionEvent of(int code) {
        for (ConnectionEvent event : VALUES) {
            if (event.code == code) {
                return event;
            }
        }
        return UNKNOWN;
    }
}
