package io.rdmacomm.verbs.cm;

/// Tells programs that ask at an address which queue pair receives datagrams (rdma_listen(3) in the port space
/// `RDMA_PS_UDP`). Thread-safe. Closing it rejects the waiting requests.
public abstract non-sealed class DatagramListener extends RequestListener<DatagramRequest> {
    /// For providers.
    protected DatagramListener(ConnectionManager manager) {
        super(manager);
    }

    @Override
    public final String toString() {
        return "datagram listener at " + localAddress() + " on " + manager().context();
    }
}
