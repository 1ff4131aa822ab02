package io.rdmacomm.verbs.cm;

/// Listens for connection requests at an address (rdma_listen(3)). Thread-safe. Closing it rejects the waiting
/// requests; accepted connections stay open.
public abstract non-sealed class Listener extends RequestListener<ConnectionRequest> {
    /// For providers.
    protected Listener(ConnectionManager manager) {
        super(manager);
    }

    @Override
    public final String toString() {
        return "listener at " + localAddress() + " on " + manager().context();
    }
}
