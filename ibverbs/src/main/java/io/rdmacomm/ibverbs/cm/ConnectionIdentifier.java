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
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/// An identifier of the connection manager (`struct rdma_cm_id`, rdma_create_id(3)), and whoever waits for its
/// events. Usable from any thread: one call into C at a time, and none once it is destroyed.
///
/// It has one owner at a time, which alone can destroy it. A route or a request hands it over to its connection.
/// The order of the locks is this one, then those of a queue pair; never the other way.
final class ConnectionIdentifier {
    private final ConnectionEventChannel channel;
    private final LibRdmacm library;
    private final long address;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<IdentifierEvent> events = new ArrayDeque<>();
    private Object owner;
    private @Nullable Consumer<IdentifierEvent> handler;
    private @Nullable VerbException failure;
    private @Nullable Integer slowResult;
    private boolean slowCallRuns;
    private boolean answerIsOut;
    private boolean closing;
    private boolean destroyed;

    ConnectionIdentifier(ConnectionEventChannel channel, LibRdmacm library, long address, Object owner) {
        this.channel = channel;
        this.library = library;
        this.address = address;
        this.owner = owner;
    }

    /// Calls C with the address of the struct.
    ///
    /// @return what the call returned
    /// @throws IllegalStateException if the identifier is destroyed
    int call(LongToIntFunction function) {
        lock.lock();
        try {
            checkAlive();
            return function.applyAsInt(address);
        } finally {
            lock.unlock();
        }
    }

    /// Calls C in a thread of its own, to ask the peer for something on iWARP. That may block for minutes: siw
    /// carries connect(2) out in it. When the caller has gone by the time it returns, that thread destroys the
    /// identifier.
    ///
    /// @return what the call returned, or -1 after the deadline
    int callSlow(LongToIntFunction function, long deadline) throws InterruptedException {
        lock.lock();
        try {
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
                long _ = changed.awaitNanos(left);
            }
            return slowResult;
        } finally {
            lock.unlock();
        }
    }

    private void finishSlow(LongToIntFunction function) {
        int result = LibCLayout.EINVAL;
        try {
            result = function.applyAsInt(address);
        } finally {
            lock.lock();
            try {
                slowCallRuns = false;
                slowResult = result;
                answerIsOut &= result == 0;
                changed.signalAll();
                if (destroyed) {
                    int _ = destroyInC();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /// The next event.
    ///
    /// @return null if there was none until the deadline
    /// @throws IllegalStateException if the identifier is or gets closed
    /// @throws VerbException if events can no longer be read
    @Nullable
    IdentifierEvent await(long deadline) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (events.isEmpty()) {
                checkOpen();
                if (failure != null) {
                    throw failure;
                }
                long left = Deadline.left(deadline);
                if (left <= 0) {
                    return null;
                }
                long _ = changed.awaitNanos(left);
            }
            checkOpen();
            return events.poll();
        } finally {
            lock.unlock();
        }
    }

    /// An event has come; called by the channel's thread.
    void deliver(IdentifierEvent event) {
        Consumer<IdentifierEvent> taker;
        lock.lock();
        try {
            answerIsOut = false;
            taker = handler;
            if (taker == null) {
                events.add(event);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        if (taker != null) {
            taker.accept(event);
        }
    }

    /// Gives the identifier to another owner, which is told of every event that nobody took, and of all to come.
    ///
    /// @throws IllegalStateException if it is destroyed, or being closed
    void handOver(Object from, Object to, Consumer<IdentifierEvent> taker) {
        Deque<IdentifierEvent> waiting;
        lock.lock();
        try {
            checkOpen();
            checkOwner(from);
            owner = to;
            handler = taker;
            waiting = new ArrayDeque<>(events);
            events.clear();
        } finally {
            lock.unlock();
        }
        waiting.forEach(taker);
    }

    /// Gives the identifier to another owner, which waits for its events.
    ///
    /// @throws IllegalStateException if it is destroyed, or being closed
    void handOver(Object from, Object to) {
        lock.lock();
        try {
            checkOpen();
            checkOwner(from);
            owner = to;
        } finally {
            lock.unlock();
        }
    }

    /// Ends all waits of this owner, now and from now on.
    void wake(Object by) {
        lock.lock();
        try {
            if (owner.equals(by)) {
                closing = true;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Ends all waits for an event, whoever the owner is: the manager is being closed.
    void wake() {
        lock.lock();
        try {
            // A connection waits for nothing here, and still has to disconnect.
            if (handler == null) {
                closing = true;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Events can no longer be read.
    void fail(VerbException why) {
        lock.lock();
        try {
            failure = why;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Destroys the identifier (rdma_destroy_id(3)) if `by` owns it and it is not destroyed yet.
    void destroy(Object by) {
        lock.lock();
        try {
            if (destroyed || !owner.equals(by)) {
                return;
            }
            destroyed = true;
            closing = true;
            changed.signalAll();
            if (answerIsOut && !slowCallRuns) {
                // The kernel does not let go before the peer has answered, which siw gives 10 s.
                Thread.ofPlatform().daemon().name("rdmacomm disconnect").start(this::destroyInC);
            } else if (!slowCallRuns) {
                IbvFailure.check("destroy identifier (rdma_destroy_id)", destroyInC(), toString());
            }
        } finally {
            lock.unlock();
        }
    }

    private int destroyInC() {
        // Forgotten first: the next identifier may have the same address.
        channel.forget(address);
        try {
            return library.destroyIdentifier(address);
        } finally {
            channel.left();
        }
    }

    /// The name of the device that it is bound to; empty if it is bound to none.
    String deviceName() {
        lock.lock();
        try {
            checkAlive();
            long context = struct().get(JAVA_LONG, ConnectionIdentifierLayout.CONTEXT);
            if (context == 0) {
                return "";
            }
            long device = NativeMemory.at(context, ContextLayout.BYTES)
                    .get(JAVA_LONG, ConnectionIdentifierLayout.CONTEXT_DEVICE);
            return NativeMemory.string(
                    NativeMemory.at(device, DeviceLayout.BYTES), DeviceLayout.NAME, DeviceLayout.NAME_BYTES);
        } finally {
            lock.unlock();
        }
    }

    /// The address on this side.
    InetSocketAddress localAddress() {
        return addressAt(ConnectionIdentifierLayout.LOCAL_ADDRESS);
    }

    /// The address of the peer.
    InetSocketAddress remoteAddress() {
        return addressAt(ConnectionIdentifierLayout.REMOTE_ADDRESS);
    }

    private InetSocketAddress addressAt(int offset) {
        lock.lock();
        try {
            checkAlive();
            return SocketAddresses.read(struct().asSlice(offset, SocketAddressLayout.BYTES));
        } finally {
            lock.unlock();
        }
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
