package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.cm.ConnectionManager;

/// An open RDMA device for sockets. Thread-safe.
public final class SocketDevice implements AutoCloseable {
    private final Context context;
    private final ConnectionManager manager;
    private final boolean immediate;
    private final SocketCounters counters;
    private final MemoryPool pool;

    private SocketDevice(Context context, MemoryBudget budget) {
        this.context = context;
        this.manager = ConnectionManager.open(context);
        this.counters = new SocketCounters(context.device().name());
        TransportType transport = context.device().transport();
        // Peers map the memory of the software device, which alone has no transport of its own.
        this.pool = new MemoryPool(context, transport == TransportType.UNSPECIFIED, budget);
        // The software device uses iWARP between hosts.
        this.immediate = transport != TransportType.IWARP && transport != TransportType.UNSPECIFIED;
    }

    /// Opens a device.
    ///
    /// @param name empty for the first one
    /// @throws io.rdmacomm.verbs.VerbException if there is no such device, or it cannot be opened
    public static SocketDevice open(String name) {
        MemoryBudget budget = MemoryBudget.ofProcess();
        Context context = name.isEmpty() ? Rdma.open() : Rdma.open(name);
        SocketDevice device = null;
        try {
            device = new SocketDevice(context, budget);
            device.counters.start();
            return device;
        } finally {
            if (device == null) {
                context.close();
            }
        }
    }

    /// The open device.
    public Context context() {
        return context;
    }

    /// Whether each connection can have its own type of service.
    public boolean hasTypeOfService() {
        return context.supports(Capability.CONNECTION_TYPE_OF_SERVICE);
    }

    /// The memory of its connections.
    MemoryPool pool() {
        return pool;
    }

    SocketCounters counters() {
        return counters;
    }

    ConnectionManager manager() {
        return manager;
    }

    /// Whether messages are always immediate data, as on InfiniBand and RoCE.
    boolean isImmediate() {
        return immediate;
    }

    /// Whether messages can be immediate data if both ends agree, as everywhere but on iWARP adapters.
    boolean canBeImmediate() {
        return context.device().transport() != TransportType.IWARP;
    }

    @Override
    public void close() {
        counters.close();
        context.close();
    }

    @Override
    public String toString() {
        return context.device().name();
    }
}
