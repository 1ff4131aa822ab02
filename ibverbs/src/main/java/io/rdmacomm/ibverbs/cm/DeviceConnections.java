package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.ibverbs.structs.SocketAddresses;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.AddressUnresolvedException;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToIntFunction;

/// The common part of a connection manager's objects: the library and the channel, and how identifiers are created,
/// bound, resolved and connected. Thread-safe.
///
/// Queue pairs belong to our own context, and an identifier has none (`id->qp` is NULL). So [ConnectionTransitions]
/// changes their states, not librdmacm. The kernel finds the queue pairs by number.
final class DeviceConnections {
    private static final String BIND = "bind (rdma_bind_addr)";
    private static final String RESOLVE_ADDRESS = "resolve address (rdma_resolve_addr)";
    private static final String RESOLVE_ROUTE = "resolve route (rdma_resolve_route)";
    private static final int MOST_READS = 255;

    private final String name;
    private final DeviceValues attributes;
    private final LibRdmacm library;
    private final ConnectionEventChannel channel;
    private final ConnectionTransitions transitions;
    private final OptionSetter optionSetter;
    private final long connectPauseNanos;

    /// @param connectPauseNanos how long a new connection waits until the peer can be expected to receive
    DeviceConnections(
            DeviceDriver device,
            DeviceValues attributes,
            ConnectedQueuePair.Table queuePairs,
            LibRdmacm library,
            long connectPauseNanos) {
        this.name = device.name();
        this.attributes = attributes;
        this.library = library;
        this.channel = ConnectionEventChannel.open(library, name);
        this.transitions = new ConnectionTransitions(library, device.transport() == TransportType.IWARP, queuePairs);
        this.optionSetter = new OptionSetter(library, name);
        this.connectPauseNanos = connectPauseNanos;
    }

    LibRdmacm library() {
        return library;
    }

    ConnectionEventChannel channel() {
        return channel;
    }

    ConnectionTransitions transitions() {
        return transitions;
    }

    OptionSetter optionSetter() {
        return optionSetter;
    }

    long connectPauseNanos() {
        return connectPauseNanos;
    }

    String deviceName() {
        return name;
    }

    /// A new identifier, which this object owns.
    ConnectionIdentifier create(PortSpace space) {
        return channel.create(this, space);
    }

    /// A new listening identifier, which this object owns.
    ConnectionIdentifier listening(PortSpace space, InetSocketAddress address, int backlog, IdentifierOptions options) {
        int tries = transitions.isIwarp() && address.getPort() == 0 ? ChosenPort.TRIES : 1;
        while (true) {
            ConnectionIdentifier identifier = create(space);
            boolean success = false;
            try {
                optionSetter.set(identifier, options);
                bind(identifier, address);
                int errno = identifier.call(id -> library.listen(id, backlog));
                tries--;
                if (tries == 0 || !ChosenPort.isTaken(errno)) {
                    IbvFailure.check("listen (rdma_listen)", errno, address + " on " + name);
                    success = true;
                    return identifier;
                }
            } finally {
                if (!success) {
                    identifier.destroy(this);
                }
            }
        }
    }

    /// Binds an identifier to a local address (rdma_bind_addr(3)).
    void bind(ConnectionIdentifier identifier, InetSocketAddress address) {
        int errno = SocketAddresses.with(address, pointer -> identifier.call(id -> library.bindAddress(id, pointer)));
        if (Errno.of(errno) == Errno.ENODEV) {
            throw new VerbException(
                    BIND, Errno.EADDRNOTAVAIL, address + " is not an address of an RDMA device; see `ip address`");
        }
        IbvFailure.check(BIND, errno, address + " on " + name);
        String bound = identifier.deviceName();
        if (!bound.isEmpty() && !bound.equals(name)) {
            throw new VerbException(
                    BIND, Errno.EADDRNOTAVAIL, address + " is an address of " + bound + ", not of " + name);
        }
    }

    /// Resolves the address of the destination and the route to it. Sets the options of the identifier, which gets
    /// a port unless they have one.
    void resolve(
            ConnectionIdentifier identifier,
            InetSocketAddress destination,
            IdentifierOptions options,
            long deadline,
            long timeoutNanos)
            throws InterruptedException {
        optionSetter.set(identifier, options);
        InetSocketAddress local = options.localAddress();
        if (local != null) {
            bind(identifier, local);
        }
        int milliseconds = Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNanos), 1, Integer.MAX_VALUE);
        String peer = destination.toString();
        int errno = SocketAddresses.with(
                destination, pointer -> identifier.call(id -> library.resolveAddress(id, 0, pointer, milliseconds)));
        checkResolving(errno, peer);
        await(RESOLVE_ADDRESS, identifier, ConnectionEvent.ADDRESS_RESOLVED, deadline, peer, timeoutNanos);
        String through = identifier.deviceName();
        if (!through.equals(name)) {
            throw new AddressUnresolvedException(
                    RESOLVE_ADDRESS,
                    Errno.ENODEV,
                    peer + " is reached through " + through + ", not through " + name + "; open that device");
        }
        IbvFailure.check(RESOLVE_ROUTE, identifier.call(id -> library.resolveRoute(id, milliseconds)), peer);
        await(RESOLVE_ROUTE, identifier, ConnectionEvent.ROUTE_RESOLVED, deadline, peer, timeoutNanos);
    }

    private static void checkResolving(int errno, String peer) {
        if (errno != 0) {
            throw new AddressUnresolvedException(
                    RESOLVE_ADDRESS,
                    Errno.of(errno),
                    peer + " is not reached through an RDMA device (errno " + errno + "); see `ip route get`");
        }
    }

    private static void await(
            String operation,
            ConnectionIdentifier identifier,
            ConnectionEvent wanted,
            long deadline,
            String peer,
            long timeoutNanos)
            throws InterruptedException {
        IdentifierEvent event = identifier.await(deadline);
        if (event == null || event.type() != wanted) {
            throw IdentifierFailures.of(operation, event, peer, timeoutNanos);
        }
    }

    /// The number of the peer's READs and atomics that this device can answer at a time, at most `wanted`.
    int responderResources(int wanted) {
        return atMost(DeviceLimit.MAX_READ_ATOMIC, wanted);
    }

    /// The number of READs and atomics that this device can have in flight, at most `wanted`.
    int initiatorDepth(int wanted) {
        return atMost(DeviceLimit.MAX_INITIATOR_READ_ATOMIC, wanted);
    }

    /// Limited to a byte: librdmacm keeps only the lowest one.
    private int atMost(DeviceLimit limit, int wanted) {
        return (int) Math.min(Math.min(wanted, MOST_READS), attributes.limit(limit));
    }

    /// Calls a function that asks the peer for an answer.
    ///
    /// @return what the call returned, or -1 after the deadline
    int ask(ConnectionIdentifier identifier, LongToIntFunction function, long deadline) throws InterruptedException {
        return transitions.isIwarp() ? identifier.callSlow(function, deadline) : identifier.call(function);
    }

    /// Rejects a request that arrived.
    void reject(ConnectionIdentifier identifier, byte[] privateData) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(Math.max(1, privateData.length));
            MemorySegment.copy(privateData, 0, data, JAVA_BYTE, 0, privateData.length);
            // Ignores the errno: a peer that has withdrawn its request needs no rejection.
            int _ = identifier.call(id -> library.reject(id, data.address(), privateData.length));
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
