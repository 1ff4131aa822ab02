package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.io.Serial;

/// The connection manager reported a failure. Each kind of failure has its own subclass.
public sealed class ConnectionException extends VerbException
        permits AddressUnresolvedException,
                ConnectFailedException,
                ConnectionRejectedException,
                DeviceRemovedException,
                PeerUnreachableException,
                RouteUnresolvedException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final ConnectionEvent event;

    /// A failure that an event reported.
    ///
    /// @param operation the call in words, with its C name
    /// @param event the event; [ConnectionEvent#UNKNOWN] if there was none
    /// @param errno the cause, as far as the event reports it
    /// @param detail what happened, to which address, and what to do
    ConnectionException(String operation, ConnectionEvent event, Errno errno, String detail) {
        super(operation, errno, detail);
        this.event = event;
    }

    /// The event of the connection manager; [ConnectionEvent#UNKNOWN] if there was none.
    public final ConnectionEvent event() {
        return event;
    }
}
