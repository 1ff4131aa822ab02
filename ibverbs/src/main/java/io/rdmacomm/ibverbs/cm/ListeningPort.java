package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// An identifier that listens (rdma_listen(3)), and the listeners that get its requests, one for each device.
///
/// At the wildcard address the kernel listens on all devices, and only one identifier can have a port. So the
/// managers of several devices in this process share an identifier, and each request is moved to the manager of its
/// device (rdma_migrate_id(3)). Any other address belongs to one device and one listener.
final class ListeningPort {
    private static final Map<Key, ListeningPort> SHARED = new HashMap<>();

    private final ConnectionIdentifier identifier;
    private final InetSocketAddress address;
    private final @Nullable Key key;
    private final Map<String, ArrivedRequests> listeners = new ConcurrentHashMap<>();

    /// The ports of the wildcard address on which this process listens.
    private record Key(LibRdmacm library, PortSpace space, InetSocketAddress address, IdentifierOptions options) {}

    /// @param shared the options with which several devices share the port; null if only one can have the address
    private ListeningPort(
            DeviceConnections connections,
            PortSpace space,
            ConnectionIdentifier identifier,
            @Nullable IdentifierOptions shared) {
        this.identifier = identifier;
        this.address = identifier.localAddress();
        this.key = shared != null ? new Key(connections.library(), space, address, shared) : null;
    }

    /// Listens, perhaps together with other devices.
    static ArrivedRequests listen(
            DeviceConnections connections,
            PortSpace space,
            InetSocketAddress address,
            int backlog,
            IdentifierOptions options) {
        synchronized (SHARED) {
            ListeningPort shared = SHARED.get(new Key(connections.library(), space, address, options));
            if (shared != null) {
                return shared.join(connections, backlog);
            }
            ConnectionIdentifier identifier = connections.listening(space, address, backlog, options);
            boolean success = false;
            try {
                ListeningPort port = new ListeningPort(
                        connections, space, identifier, address.getAddress().isAnyLocalAddress() ? options : null);
                ArrivedRequests listener = port.join(connections, backlog);
                identifier.handOver(connections, port, port::occurred);
                if (port.key != null) {
                    SHARED.put(port.key, port);
                }
                success = true;
                return listener;
            } finally {
                if (!success) {
                    identifier.destroy(connections);
                }
            }
        }
    }

    private ArrivedRequests join(DeviceConnections connections, int backlog) {
        ArrivedRequests listener = new ArrivedRequests(connections.channel(), this, backlog);
        if (listeners.putIfAbsent(connections.deviceName(), listener) != null) {
            throw new VerbException(
                    "listen (rdma_listen)",
                    Errno.EADDRINUSE,
                    "this process already listens at " + address + " on " + connections
                            + "; choose another port, or close that listener");
        }
        return listener;
    }

    InetSocketAddress address() {
        return address;
    }

    private void occurred(IdentifierEvent event) {
        ConnectionIdentifier arrived = event.arrived();
        if (arrived == null) {
            // The only other event of a listening identifier is that its device was removed.
            listeners.values().forEach(listener -> listener.end(event));
            return;
        }
        ArrivedRequests listener = listeners.get(arrived.deviceName());
        if (listener == null || !arrived.tryMoveTo(listener.channel()) || !listener.keep(event)) {
            arrived.channel().refuse(arrived);
        }
    }

    /// A listener is being closed; the last one closes the port.
    void leave(ArrivedRequests listener) {
        synchronized (SHARED) {
            listeners.values().remove(listener);
            if (listeners.values().stream().noneMatch(other -> identifier.tryMoveTo(other.channel()))) {
                if (key != null) {
                    SHARED.remove(key, this);
                }
                try {
                    identifier.destroy(this);
                } finally {
                    IdentifierEvent end = IdentifierEvent.ofRemoval();
                    listeners.values().forEach(other -> other.end(end));
                }
            }
        }
    }
}
