package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.TransportType;
import java.time.Duration;

/// The device and the peer of a check.
///
/// @param context the open device
/// @param how how its queue pairs connect, with the port and the GID index
/// @param byAddress whether the connection manager connects the queue pairs
/// @param peer makes the other ends
/// @param timeout how long to wait for a completion
public record CheckSetup(Context context, ConnectionOptions how, boolean byAddress, Peer peer, Duration timeout) {
    /// Whether the device reports little about requests that the peer rejects: iWARP answers with a Terminate
    /// message, which ends the connection (RFC 5040, section 4.8).
    boolean isIwarp() {
        return context.device().transport() == TransportType.IWARP;
    }

    boolean supports(Capability capability) {
        return context.supports(capability);
    }

    /// The port of the device.
    int port() {
        return how.path().port();
    }

    CheckSetup with(ConnectionOptions other) {
        return new CheckSetup(context, other, byAddress, peer, timeout);
    }
}
