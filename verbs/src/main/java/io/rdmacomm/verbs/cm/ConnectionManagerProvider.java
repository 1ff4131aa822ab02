package io.rdmacomm.verbs.cm;

/// A [io.rdmacomm.verbs.Context] whose device may have a connection manager; for providers.
public interface ConnectionManagerProvider {
    /// Opens the connection manager of this device for [ConnectionManager#open]; the context adopts it. Called
    /// only if the device has [io.rdmacomm.verbs.Capability#CONNECTION_MANAGER].
    ConnectionManager openConnectionManager();

    /// One line with the reason why the device has no connection manager, and what to do; empty if it has one or
    /// there is no more to say.
    default String whyNoConnectionManager() {
        return "";
    }
}
