package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.ConnectionEventLayout;
import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.ffm.SocketAddressLayout;
import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.ibverbs.structs.SocketAddresses;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.AddressUnresolvedException;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.DatagramListener;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.MulticastMembership;
import io.rdmacomm.verbs.cm.Route;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToIntFunction;

/// The connection manager of a device over librdmacm.
///
/// Queue pairs belong to our own context, and an identifier has none (`id->qp` is NULL). So librdmacm does not change
/// their states; [ConnectionTransitions] does that instead. The kernel finds the queue pairs by number.
public final class IbvConnectionManager extends ConnectionManager {
    private static final String BIND = "listen (rdma_bind_addr)";
    private static final String RESOLVE_ADDRESS = "resolve address (rdma_resolve_addr)";
    private static final String RESOLVE_ROUTE = "resolve route (rdma_resolve_route)";
    private static final String LOOK_UP = "look up datagram service (rdma_connect)";
    private static final String JOIN = "join multicast group (rdma_join_multicast)";
    private static final int MOST_READS = 255;
    private static final int PRIVATE_DATA_LIMIT = 56;
    /// With more, siw writes a wrong length.
    private static final int IWARP_PRIVATE_DATA_LIMIT = 251;

    private final Context context;
    private final LibRdmacm library;
    private final ConnectionEventChannel channel;
    private final ConnectionTransitions transitions;
    private final OptionSetter optionSetter;
    private final long connectPauseNanos;

    /// @param connectPauseNanos how long a new connection waits before the peer can be expected to receive
    public IbvConnectionManager(Context context, LibRdmacm library, long connectPauseNanos) {
        super(context);
        this.context = context;
        this.connectPauseNanos = connectPauseNanos;
        this.library = library;
        this.channel = ConnectionEventChannel.open(library, context.device().name());
        this.optionSetter = new OptionSetter(library, context);
        this.transitions = new ConnectionTransitions(library, context.device().transport() == TransportType.IWARP);
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

    @Override
    public int privateDataLimit() {
        return transitions.isIwarp() ? IWARP_PRIVATE_DATA_LIMIT : PRIVATE_DATA_LIMIT;
    }

    @Override
    protected Listener doListen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        return new IbvListener(this, ListeningPort.listen(this, PortSpace.CONNECTIONS, address, backlog, options));
    }

    /// An identifier that listens; this manager owns it.
    ConnectionIdentifier listening(PortSpace space, InetSocketAddress address, int backlog, IdentifierOptions options) {
        int tries = transitions.isIwarp() && address.getPort() == 0 ? ChosenPort.TRIES : 1;
        while (true) {
            ConnectionIdentifier identifier = channel.create(this, space);
            boolean success = false;
            try {
                optionSetter.set(identifier, options);
                bind(identifier, address);
                int errno = identifier.call(id -> library.listen(id, backlog));
                tries--;
                if (tries == 0 || !ChosenPort.isTaken(errno)) {
                    IbvFailure.check("listen (rdma_listen)", errno, address + " on " + context);
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

    private void bind(ConnectionIdentifier identifier, InetSocketAddress address) {
        int errno = withAddress(address, pointer -> identifier.call(id -> library.bindAddress(id, pointer)));
        if (Errno.of(errno) == Errno.ENODEV) {
            throw new VerbException(
                    BIND, Errno.EADDRNOTAVAIL, address + " is not an address of an RDMA device; see `ip address`");
        }
        IbvFailure.check(BIND, errno, address + " on " + context);
        String bound = identifier.deviceName();
        if (!bound.isEmpty() && !isThisDevice(bound)) {
            throw new VerbException(
                    BIND, Errno.EADDRNOTAVAIL, address + " is an address of " + bound + ", not of " + context);
        }
    }

    @Override
    protected Route doResolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos)
            throws InterruptedException {
        ConnectionIdentifier identifier = channel.create(this, PortSpace.CONNECTIONS);
        boolean success = false;
        try {
            optionSetter.set(identifier, options);
            resolve(identifier, destination, Deadline.after(timeoutNanos), timeoutNanos);
            Route route = new IbvRoute(this, identifier, destination, options);
            success = true;
            return route;
        } finally {
            if (!success) {
                identifier.destroy(this);
            }
        }
    }

    @Override
    protected DatagramListener doListenForDatagrams(InetSocketAddress address, int backlog) {
        return new IbvDatagramListener(
                this, ListeningPort.listen(this, PortSpace.DATAGRAMS, address, backlog, IdentifierOptions.none()));
    }

    @Override
    protected DatagramService doLookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        ConnectionIdentifier identifier = channel.create(this, PortSpace.DATAGRAMS);
        try {
            long deadline = Deadline.after(timeoutNanos);
            resolve(identifier, destination, deadline, timeoutNanos);
            int errno = DatagramParameters.with(
                    privateData, 0, pointer -> identifier.call(id -> library.connect(id, pointer)));
            IbvFailure.check(LOOK_UP, errno, destination.toString());
            IdentifierEvent answer = identifier.await(deadline);
            DatagramTarget target = answer == null ? null : answer.target();
            if (answer == null || target == null) {
                throw IdentifierFailures.ofLookingUp(LOOK_UP, answer, destination.toString(), timeoutNanos);
            }
            return new DatagramService(target, answer.privateData());
        } finally {
            identifier.destroy(this);
        }
    }

    @Override
    protected MulticastMembership doJoinMulticast(InetAddress local, InetAddress group, long timeoutNanos)
            throws InterruptedException {
        ConnectionIdentifier identifier = channel.create(this, PortSpace.DATAGRAMS);
        boolean success = false;
        try {
            bind(identifier, new InetSocketAddress(local, 0));
            String name = group.getHostAddress();
            int errno = withAddress(
                    new InetSocketAddress(group, 0),
                    pointer -> identifier.call(id -> library.joinMulticast(id, pointer)));
            IbvFailure.check(JOIN, errno, name);
            IdentifierEvent answer = identifier.await(Deadline.after(timeoutNanos));
            DatagramTarget target = answer == null ? null : answer.target();
            if (target == null) {
                throw IdentifierFailures.ofJoining(JOIN, answer, name, timeoutNanos);
            }
            MulticastMembership membership = new IbvMulticastMembership(this, identifier, target);
            success = true;
            return membership;
        } finally {
            if (!success) {
                identifier.destroy(this);
            }
        }
    }

    /// Resolves the address of the destination and the route to it; the identifier gets a port.
    void resolve(ConnectionIdentifier identifier, InetSocketAddress destination, long deadline, long timeoutNanos)
            throws InterruptedException {
        int milliseconds = Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNanos), 1, Integer.MAX_VALUE);
        String peer = destination.toString();
        int errno = withAddress(
                destination, pointer -> identifier.call(id -> library.resolveAddress(id, 0, pointer, milliseconds)));
        checkResolving(errno, peer);
        await(RESOLVE_ADDRESS, identifier, ConnectionEvent.ADDRESS_RESOLVED, deadline, peer, timeoutNanos);
        String through = identifier.deviceName();
        if (!isThisDevice(through)) {
            throw new AddressUnresolvedException(
                    RESOLVE_ADDRESS,
                    Errno.ENODEV,
                    peer + " is reached through " + through + ", not through " + context + "; open that device");
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

    String deviceName() {
        return context.device().name();
    }

    private boolean isThisDevice(String name) {
        return name.equals(deviceName());
    }

    /// The number of READs and atomics of the peer that this device can hold, at most `wanted`.
    int responderResources(int wanted) {
        return atMost(DeviceLimit.MAX_READ_ATOMIC, wanted);
    }

    /// The number of READs and atomics that this device can have in flight, at most `wanted`.
    int initiatorDepth(int wanted) {
        return atMost(DeviceLimit.MAX_INITIATOR_READ_ATOMIC, wanted);
    }

    /// librdmacm keeps the lowest byte.
    private int atMost(DeviceLimit limit, int wanted) {
        return (int) Math.min(Math.min(wanted, MOST_READS), context.limit(limit));
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

    /// Calls C with a `struct rdma_conn_param`.
    static int withParameters(
            ConnectionParameters parameters,
            QueuePair queuePair,
            int responderResources,
            int initiatorDepth,
            LongToIntFunction function) {
        byte[] data = parameters.privateData();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(ConnectionEventLayout.PARAMETERS_BYTES, 8);
            if (data.length > 0) {
                struct.set(
                        JAVA_LONG,
                        ConnectionEventLayout.PRIVATE_DATA,
                        arena.allocateFrom(JAVA_BYTE, data).address());
            }
            setByte(struct, ConnectionEventLayout.PRIVATE_DATA_LENGTH, data.length);
            setByte(struct, ConnectionEventLayout.RESPONDER_RESOURCES, responderResources);
            setByte(struct, ConnectionEventLayout.INITIATOR_DEPTH, initiatorDepth);
            setByte(struct, ConnectionEventLayout.RETRY_COUNT, parameters.retryCount());
            setByte(struct, ConnectionEventLayout.RNR_RETRY, parameters.rnrRetry());
            boolean shared = queuePair.options().sharedReceives() != null;
            setByte(struct, ConnectionEventLayout.SHARED_RECEIVES, shared ? 1 : 0);
            struct.set(JAVA_INT, ConnectionEventLayout.QUEUE_PAIR_NUMBER, queuePair.number());
            return function.applyAsInt(struct.address());
        }
    }

    private static void setByte(MemorySegment struct, int offset, int value) {
        struct.set(JAVA_BYTE, offset, (byte) value);
    }

    private static int withAddress(InetSocketAddress address, LongToIntFunction function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(SocketAddressLayout.BYTES, 8);
            SocketAddresses.write(address, pointer);
            return function.applyAsInt(pointer.address());
        }
    }

    @Override
    protected void onClosing() {
        channel.wake();
    }

    @Override
    protected void doClose() {
        channel.close();
    }
}
