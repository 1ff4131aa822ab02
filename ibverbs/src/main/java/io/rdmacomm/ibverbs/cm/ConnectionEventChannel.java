package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.ibverbs.ffm.ConnectionEventLayout;
import io.rdmacomm.ibverbs.ffm.ConnectionIdentifierLayout;
import io.rdmacomm.ibverbs.ffm.LibC;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.AddressVectors;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The channel for the events of all identifiers of a manager (`struct rdma_event_channel`), and the thread that
/// reads it.
///
/// The thread copies each event and acknowledges it exactly once, immediately (rdma_ack_cm_event(3)): destroying an
/// identifier waits in C for this, and must not wait for the program. Only then does the identifier get the event.
/// When the channel is closed and the last identifier is gone, the thread destroys the channel and ends.
final class ConnectionEventChannel implements AutoCloseable {
    private static final String GET_EVENT = "wait for a connection event (rdma_get_cm_event)";
    /// How long closing waits for identifiers that are still in a call in C.
    private static final long CLOSE_SECONDS = 5;
    /// How long the thread sleeps at a time. Without an eventfd it has to check whether it should end.
    private static final int SLEEP_MILLISECONDS = 60_000;
    private static final int NAP_MILLISECONDS = 50;

    private static final SafeLogger LOG = SafeLogger.of(ConnectionEventChannel.class);

    private final LibRdmacm library;
    private final long address;
    private final int file;
    private final int wakeUp;
    private final String name;
    private final Map<Long, ConnectionIdentifier> byAddress = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int identifiers;
    private boolean closing;
    private boolean ended;

    private ConnectionEventChannel(LibRdmacm library, long address, String name) {
        this.library = library;
        this.address = address;
        this.name = name;
        this.file = NativeMemory.at(address, ConnectionIdentifierLayout.CHANNEL_BYTES)
                .get(JAVA_INT, ConnectionIdentifierLayout.CHANNEL_FILE);
        this.wakeUp = LibC.createEvent();
    }

    /// Opens a channel (rdma_create_event_channel(3)) and starts its thread.
    ///
    /// @param name the name of the device, for messages
    static ConnectionEventChannel open(LibRdmacm library, String name) {
        String operation = "open connection manager (rdma_create_event_channel)";
        long address = library.createChannel();
        if (address <= 0) {
            VerbException failure = IbvFailure.of(operation, (int) -address, name);
            throw new VerbException(
                    operation,
                    failure.errno(),
                    name + ": the kernel's connection manager does not answer; load it with `modprobe rdma_ucm`, and"
                            + " see `ls -l /dev/infiniband/rdma_cm`");
        }
        ConnectionEventChannel channel = new ConnectionEventChannel(library, address, name);
        if (!LibC.makeNonBlocking(channel.file)) {
            library.destroyChannel(address);
            throw new IllegalStateException("the connection events of " + name + " have no open file");
        }
        Thread.ofPlatform().daemon().name("rdmacomm connections of " + name).start(channel::read);
        return channel;
    }

    /// A new identifier (rdma_create_id(3)).
    ///
    /// @throws IllegalStateException if the channel is closed
    ConnectionIdentifier create(Object owner, PortSpace space) {
        enter();
        boolean success = false;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            IbvFailure.check(
                    "create identifier (rdma_create_id)",
                    library.createIdentifier(address, pointer.address(), space.code()),
                    name);
            ConnectionIdentifier created = add(pointer.get(JAVA_LONG, 0), owner, space);
            success = true;
            // A concurrent close may have missed this identifier.
            if (isClosing()) {
                created.wake();
            }
            return created;
        } finally {
            if (!success) {
                left();
            }
        }
    }

    private ConnectionIdentifier add(long identifier, Object owner, PortSpace space) {
        ConnectionIdentifier added = new ConnectionIdentifier(this, library, identifier, owner, space);
        byAddress.put(identifier, added);
        return added;
    }

    /// Takes over an identifier from another channel, unless this one is closed.
    boolean tryAdd(long identifier, ConnectionIdentifier moved) {
        boolean entered = tryEnter();
        if (entered) {
            byAddress.put(identifier, moved);
        }
        return entered;
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    private void enter() {
        if (!tryEnter()) {
            throw new IllegalStateException("the connection manager of " + name + " is closed");
        }
    }

    private boolean tryEnter() {
        lock.lock();
        try {
            if (!closing) {
                identifiers++;
            }
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    /// An identifier is about to be destroyed: its events are dropped from now on.
    void forget(long identifier) {
        byAddress.remove(identifier);
    }

    /// An identifier is destroyed.
    void left() {
        lock.lock();
        try {
            identifiers--;
            changed.signalAll();
            wakeWhenOver();
        } finally {
            lock.unlock();
        }
    }

    /// Ends all waits for events, now and from now on.
    void wake() {
        lock.lock();
        try {
            closing = true;
        } finally {
            lock.unlock();
        }
        byAddress.values().forEach(ConnectionIdentifier::wake);
    }

    /// Closes the channel once the last identifier is gone; waits a moment for that.
    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            wakeWhenOver();
            long left = TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
            while (!ended && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private void wakeWhenOver() {
        if (closing && identifiers == 0 && wakeUp >= 0 && !ended) {
            LibC.signal(wakeUp);
        }
    }

    private boolean isClosing() {
        lock.lock();
        try {
            return closing;
        } finally {
            lock.unlock();
        }
    }

    private boolean isOver() {
        lock.lock();
        try {
            return closing && identifiers == 0;
        } finally {
            lock.unlock();
        }
    }

    private void read() {
        int timeout = wakeUp >= 0 ? SLEEP_MILLISECONDS : NAP_MILLISECONDS;
        try {
            while (!isOver()) {
                if (LibC.awaitReadable(file, wakeUp, timeout)) {
                    take();
                }
            }
        } catch (RuntimeException e) {
            VerbException failure = e instanceof VerbException known ? known : IbvFailure.of(GET_EVENT, 0, name);
            byAddress.values().forEach(identifier -> identifier.fail(failure));
        } finally {
            end();
        }
    }

    private void end() {
        lock.lock();
        try {
            while (!(closing && identifiers == 0)) {
                changed.awaitUninterruptibly();
            }
            ended = true;
            library.destroyChannel(address);
            if (wakeUp >= 0) {
                LibC.close(wakeUp);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void take() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int errno = library.getEvent(address, pointer.address());
            if (errno == LibCLayout.EAGAIN || errno == LibCLayout.EINTR) {
                return;
            }
            IbvFailure.check(GET_EVENT, errno, name);
            long event = pointer.get(JAVA_LONG, 0);
            MemorySegment struct = NativeMemory.at(event, ConnectionEventLayout.BYTES);
            boolean request =
                    struct.get(JAVA_INT, ConnectionEventLayout.TYPE) == ConnectionEvent.CONNECT_REQUEST.code();
            // Looked up before the event is acknowledged: after that the struct may be freed and its address reused.
            ConnectionIdentifier about = byAddress.get(
                    struct.get(JAVA_LONG, request ? ConnectionEventLayout.LISTENER : ConnectionEventLayout.IDENTIFIER));
            IdentifierEvent copy = copy(struct, about == null ? PortSpace.CONNECTIONS : about.space(), request);
            int _ = library.acknowledgeEvent(event);
            handle(about, copy);
        }
    }

    private IdentifierEvent copy(MemorySegment struct, PortSpace space, boolean request) {
        ConnectionEvent type = ConnectionEvent.of(struct.get(JAVA_INT, ConnectionEventLayout.TYPE));
        ConnectionIdentifier arrived =
                request ? arrived(struct.get(JAVA_LONG, ConnectionEventLayout.IDENTIFIER), space) : null;
        int status = struct.get(JAVA_INT, ConnectionEventLayout.STATUS);
        MemorySegment parameters = struct.asSlice(ConnectionEventLayout.PARAMETERS);
        byte[] privateData = privateData(parameters);
        if (space == PortSpace.DATAGRAMS) {
            boolean named = type == ConnectionEvent.ESTABLISHED || type == ConnectionEvent.MULTICAST_JOIN;
            return new IdentifierEvent(type, status, arrived, privateData, 0, 0, named ? target(parameters) : null);
        }
        return new IdentifierEvent(
                type,
                status,
                arrived,
                privateData,
                Byte.toUnsignedInt(parameters.get(JAVA_BYTE, ConnectionEventLayout.RESPONDER_RESOURCES)),
                Byte.toUnsignedInt(parameters.get(JAVA_BYTE, ConnectionEventLayout.INITIATOR_DEPTH)),
                null);
    }

    /// The private data is at the same offset as for connections.
    private static DatagramTarget target(MemorySegment parameters) {
        return new DatagramTarget(
                AddressVectors.read(parameters.asSlice(ConnectionEventLayout.PATH, AddressVectorLayout.BYTES)),
                parameters.get(JAVA_INT, ConnectionEventLayout.DATAGRAM_QUEUE_PAIR_NUMBER),
                parameters.get(JAVA_INT, ConnectionEventLayout.QUEUE_KEY));
    }

    /// A request has a new identifier, which counts even if it is rejected.
    private ConnectionIdentifier arrived(long identifier, PortSpace space) {
        lock.lock();
        try {
            identifiers++;
        } finally {
            lock.unlock();
        }
        return add(identifier, this, space);
    }

    private static byte[] privateData(MemorySegment parameters) {
        long data = parameters.get(JAVA_LONG, ConnectionEventLayout.PRIVATE_DATA);
        int length = Byte.toUnsignedInt(parameters.get(JAVA_BYTE, ConnectionEventLayout.PRIVATE_DATA_LENGTH));
        return data == 0 ? new byte[0] : NativeMemory.at(data, length).toArray(JAVA_BYTE);
    }

    private void handle(@Nullable ConnectionIdentifier about, IdentifierEvent event) {
        try {
            if (about != null) {
                about.deliver(event);
            } else if (event.arrived() != null) {
                refuse(event.arrived());
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, () -> event.type() + " of " + name + " could not be handled", e);
        }
    }

    /// Rejects a request that was not taken, and destroys its identifier.
    void refuse(ConnectionIdentifier arrived) {
        try {
            int _ = arrived.call(identifier -> library.reject(identifier, 0, 0));
        } finally {
            arrived.destroy(this);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
