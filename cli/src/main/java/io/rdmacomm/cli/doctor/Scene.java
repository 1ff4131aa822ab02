package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.TransportType;
import java.time.Duration;

/// The device and the peer of a check.
///
/// @param context the open device
/// @param how how its queue pairs connect, with the port and the index of the GID
/// @param byAddress whether the connection manager connects them
/// @param peer makes the other ends
/// @param patience how long to wait for a completion
public record Scene(Context context, ConnectionOptions how, boolean byAddress, Peer peer, Duration patience) {
    /// Whether the device reports little about requests that the peer rejects: iWARP answers them with a
    /// Terminate message, which ends the connection (RFC 5040, section 4.8).
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

    Scene with(ConnectionOptions other) {
        return new Scene(context, other, byAddress, peer, patience);
    }
}
