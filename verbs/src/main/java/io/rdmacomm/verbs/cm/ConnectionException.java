package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.io.Serial;

/// The connection manager reported a failure. Each kind of failure has a class of its own.
public sealed class ConnectionException extends VerbException
        permits AddressUnresolvedException,
                ConnectFailedException,
                ConnectionRejectedException,
                ConnectionTimeoutException,
                DeviceRemovedException,
                PeerUnreachableException,
                RouteUnresolvedException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final ConnectionEvent event;

    /// A failure that an event told of.
    ///
    /// @param operation the call in words with its C name
    /// @param event what was reported; [ConnectionEvent#UNKNOWN] when nothing was
    /// @param errno why, as far as the event's status says so
    /// @param detail what happened to which address, and what to do
    ConnectionException(String operation, ConnectionEvent event, Errno errno, String detail) {
        super(operation, errno, detail);
        this.event = event;
    }

    /// What the connection manager reported.
    public final ConnectionEvent event() {
        return event;
    }
}
