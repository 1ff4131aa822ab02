package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.ConnectionIdentifierLayout;
import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.DeviceLayout;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.SocketAddressLayout;
import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.ibverbs.structs.SocketAddresses;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/// An identifier of the connection manager (`struct rdma_cm_id`, rdma_create_id(3)), and its events. Thread-safe: one
/// call into C at a time, and none once it is destroyed.
///
/// It has one owner at a time, and only the owner can destroy it. A route or a request hands it over to its
/// connection. Lock order: this object's monitor before the locks of a queue pair, never the reverse.
final class ConnectionIdentifier {
    private volatile ConnectionEventChannel channel;
    private final LibRdmacm library;
    private final long address;
    private final PortSpace space;
    private final Deque<IdentifierEvent> events = new ArrayDeque<>();
    private Object owner;
    private @Nullable Consumer<IdentifierEvent> handler;
    private @Nullable VerbException failure;
    private @Nullable Integer slowResult;
    private boolean slowCallRuns;
    private boolean answerIsOut;
    private boolean closing;
    private boolean destroyed;

    ConnectionIdentifier(
            ConnectionEventChannel channel, LibRdmacm library, long address, Object owner, PortSpace space) {
        this.channel = channel;
        this.library = library;
        this.address = address;
        this.owner = owner;
        this.space = space;
    }

    /// Whether it is for connections or for datagrams.
    PortSpace space() {
        return space;
    }

    /// Calls C with the address of the struct.
    ///
    /// @return what the call returned
    /// @throws IllegalStateException if the identifier is destroyed
    synchronized int call(LongToIntFunction function) {
        checkAlive();
        return function.applyAsInt(address);
    }

    /// Calls C on a new thread, for a request to the peer on iWARP: some drivers do the work of connect(2) in the
    /// call, so it may block for minutes. If the identifier is destroyed meanwhile, that thread destroys it in C.
    ///
    /// @return what the call returned, or -1 after the deadline
    synchronized int callSlow(LongToIntFunction function, long deadline) throws InterruptedException {
        checkOpen();
        Thread.ofPlatform().daemon().name("rdmacomm connect").start(() -> finishSlow(function));
        slowCallRuns = true;
        answerIsOut = true;
        while (slowResult == null) {
            long left = Deadline.left(deadline);
            if (left <= 0) {
                return -1;
            }
            checkOpen();
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return slowResult;
    }

    private void finishSlow(LongToIntFunction function) {
        int result = LibCLayout.EINVAL;
        try {
            result = function.applyAsInt(address);
        } finally {
            slowCallReturned(result);
        }
    }

    private synchronized void slowCallReturned(int result) {
        slowCallRuns = false;
        slowResult = result;
        answerIsOut &= result == 0;
        notifyAll();
        if (destroyed) {
            int _ = destroyInC();
        }
    }

    /// The next event.
    ///
    /// @return null if there was none until the deadline
    /// @throws IllegalStateException if the identifier is closed, or becomes closed
    /// @throws VerbException if events can no longer be read
    @Nullable
    synchronized IdentifierEvent await(long deadline) throws InterruptedException {
        while (events.isEmpty()) {
            checkOpen();
            if (failure != null) {
                throw failure;
            }
            long left = Deadline.left(deadline);
            if (left <= 0) {
                return null;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        checkOpen();
        return events.poll();
    }

    /// Takes an event; called by the thread of the channel.
    void deliver(IdentifierEvent event) {
        Consumer<IdentifierEvent> taker = handlerOrQueue(event);
        if (taker != null) {
            taker.accept(event);
        }
    }

    private synchronized @Nullable Consumer<IdentifierEvent> handlerOrQueue(IdentifierEvent event) {
        answerIsOut = false;
        if (handler == null) {
            events.add(event);
            notifyAll();
        }
        return handler;
    }

    /// Gives the identifier to another owner, which gets all pending and future events.
    ///
    /// @throws IllegalStateException if it is destroyed, or is being closed
    void handOver(Object from, Object to, Consumer<IdentifierEvent> taker) {
        Deque<IdentifierEvent> waiting;
        synchronized (this) {
            handOver(from, to);
            handler = taker;
            waiting = new ArrayDeque<>(events);
            events.clear();
        }
        waiting.forEach(taker);
    }

    /// Gives the identifier to another owner, which waits for its events.
    ///
    /// @throws IllegalStateException if it is destroyed, or is being closed
    synchronized void handOver(Object from, Object to) {
        checkOpen();
        checkOwner(from);
        owner = to;
    }

    /// The channel of its events.
    ConnectionEventChannel channel() {
        return channel;
    }

    /// Moves the identifier and its unread events to another channel (rdma_migrate_id(3)). Meanwhile it belongs to
    /// both: an event that the old channel has just read is delivered.
    ///
    /// @return false if it could not be moved, and nothing has changed
    synchronized boolean tryMoveTo(ConnectionEventChannel other) {
        ConnectionEventChannel before = channel;
        if (before.equals(other)) {
            return true;
        }
        if (closing || !other.tryAdd(address, this)) {
            return false;
        }
        boolean moved = library.migrateIdentifier(address, other.address()) == 0;
        if (moved) {
            channel = other;
            owner = owner.equals(before) ? other : owner;
        }
        ConnectionEventChannel left = moved ? before : other;
        left.forget(address);
        left.left();
        return moved;
    }

    /// Ends all waits of this owner, now and from now on.
    synchronized void wake(Object by) {
        if (owner.equals(by)) {
            closing = true;
            notifyAll();
        }
    }

    /// Ends all waits for an event, whatever the owner: the manager is being closed.
    synchronized void wake() {
        // A connection does not wait here, and must still disconnect.
        if (handler == null) {
            closing = true;
            notifyAll();
        }
    }

    /// Events can no longer be read.
    synchronized void fail(VerbException why) {
        failure = why;
        notifyAll();
    }

    /// Destroys the identifier (rdma_destroy_id(3)) if `by` owns it and it is not destroyed yet.
    synchronized void destroy(Object by) {
        if (destroyed || !owner.equals(by)) {
            return;
        }
        destroyed = true;
        closing = true;
        notifyAll();
        if (answerIsOut && !slowCallRuns) {
            // The kernel first waits for the peer's answer, for 10 s on siw.
            Thread.ofPlatform().daemon().name("rdmacomm disconnect").start(this::destroyInC);
        } else if (!slowCallRuns) {
            IbvFailure.check("destroy identifier (rdma_destroy_id)", destroyInC(), toString());
        }
    }

    private int destroyInC() {
        // First: the next identifier may have the same address.
        channel.forget(address);
        try {
            return library.destroyIdentifier(address);
        } finally {
            channel.left();
        }
    }

    /// The name of the device that it is bound to, or an empty string.
    synchronized String deviceName() {
        checkAlive();
        long context = struct().get(JAVA_LONG, ConnectionIdentifierLayout.CONTEXT);
        if (context == 0) {
            return "";
        }
        long device =
                NativeMemory.at(context, ContextLayout.BYTES).get(JAVA_LONG, ConnectionIdentifierLayout.CONTEXT_DEVICE);
        return NativeMemory.string(
                NativeMemory.at(device, DeviceLayout.BYTES), DeviceLayout.NAME, DeviceLayout.NAME_BYTES);
    }

    /// The address on this side.
    InetSocketAddress localAddress() {
        return addressAt(ConnectionIdentifierLayout.LOCAL_ADDRESS);
    }

    /// The address of the peer.
    InetSocketAddress remoteAddress() {
        return addressAt(ConnectionIdentifierLayout.REMOTE_ADDRESS);
    }

    private synchronized InetSocketAddress addressAt(int offset) {
        checkAlive();
        return SocketAddresses.read(struct().asSlice(offset, SocketAddressLayout.BYTES));
    }

    private MemorySegment struct() {
        return NativeMemory.at(address, ConnectionIdentifierLayout.BYTES);
    }

    private void checkAlive() {
        if (destroyed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    private void checkOpen() {
        if (closing) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    private void checkOwner(Object expected) {
        if (!owner.equals(expected)) {
            throw new IllegalStateException(this + " has another owner");
        }
    }

    @Override
    public String toString() {
        return "connection identifier on " + channel;
    }
}
