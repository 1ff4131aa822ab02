package io.rdmacomm.verbs.cm;

/// A [io.rdmacomm.verbs.Context] whose device has a connection manager; for providers.
public interface ConnectionManagerProvider {
    /// Opens the connection manager of this device for [ConnectionManager#open]; the context adopts it.
    ConnectionManager openConnectionManager();
}
