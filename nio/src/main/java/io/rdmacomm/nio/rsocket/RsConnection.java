package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.service.ExitHook;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One rsocket: a stream each way over one queue pair (rsocket(7)). Thread-safe.
///
/// Nothing happens in the background: completions are processed by the threads that call [#progress()], read or
/// write. Such a thread notifies the others through [Readiness] and wakes those in [#await]. After [#keepAlive],
/// one more thread does so from time to time, the same one for all connections.
public final class RsConnection {
    private static final int SPARE_RECEIVES = 8;
    private static final long MOST_MAPPED = 0xffff_ffffL;
    private static final Set<AccessFlag> MAPPED = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

    private final SocketDevice device;
    private final Arena arena;
    private final CompletionChannel events;
    private final CompletionQueue completionQueue;
    private final QueuePair queuePair;
    /// Used by this connection only, so that the peers of others cannot use its keys.
    private final ProtectionDomain domain;
    private final ConnectionMemory memory;
    private final Wire wire;
    private final int receives;
    private final ChannelCounters counters = new ChannelCounters();
    private final RsProtocol protocol;
    private final IdleClock idleClock = new IdleClock(this::checkIdle);
    private final ReentrantLock lock = new ReentrantLock();
    private final Waiters waiters;
    private final Listeners listeners = new Listeners();

    private @Nullable Connection connection;
    private boolean armed;
    private boolean released;
    /// Waits for data in flight after [#close].
    private @Nullable Thread closer;

    /// A connection that is not established yet.
    ///
    /// @throws VerbException if the device or the system has no room for another one; the message says what to
    ///        raise
    RsConnection(SocketDevice device, BufferSizes sizes) {
        this.device = device;
        this.receives = sizes.messages() + SPARE_RECEIVES;
        int sends = sizes.messages() + 2 * RsProtocol.CONTROLS;
        Completions completions;
        Partial partial = new Partial();
        try {
            arena = partial.add(Arena.ofShared());
            completions = Completions.create(arena, RsProtocol.POLLED);
            events = partial.add(device.context().createCompletionChannel());
            completionQueue = partial.add(device.context()
                    .createCompletionQueue(
                            CompletionQueueOptions.ofCapacity(sends + receives).withChannel(events)));
            domain = partial.add(device.context().allocateProtectionDomain());
            memory = partial.add(new ConnectionMemory(device.pool(), domain, sizes, receives));
            queuePair = partial.add(domain.createQueuePair(QueuePairOptions.reliable(completionQueue)
                    .withSizes(new QueueSizes(sends, receives, 2, 1, Integer.BYTES))));
            wire = new Wire(queuePair, memory, arena, receives, device.isImmediate(), counters);
            partial.keep();
        } finally {
            partial.close();
        }
        protocol = new RsProtocol(device, sizes, memory, wire, completionQueue, completions, counters);
        waiters = new Waiters(lock, events);
    }

    // ---- Beginning ----

    QueuePair queuePair() {
        return queuePair;
    }

    /// Posts the receives: the queue pair was prepared.
    void postReceives() {
        wire.receive(receives);
    }

    /// The private data for the peer.
    ///
    /// @param immediate whether messages can be immediate data
    byte[] privateData(boolean immediate) {
        return protocol.privateData(immediate);
    }

    /// The connection is established.
    void begin(Connection connected, ConnectionData peer) {
        lock.lock();
        try {
            connection = connected;
            protocol.begin(connected, peer);
            device.counters().add(this, connected);
            poll();
        } finally {
            lock.unlock();
        }
        ExitHook.before(connected, this::leaveAtExit);
        var _ = connected.onDisconnect().thenAccept(this::disconnected);
    }

    private void disconnected(String reason) {
        lock.lock();
        try {
            poll();
            protocol.disconnected(reason);
            tell();
        } finally {
            lock.unlock();
        }
    }

    // ---- The streams ----

    /// Reads what has arrived.
    ///
    /// @return the number of bytes; 0 if there are none yet, or this side has closed the connection; -1 at the end
    ///         of the stream
    /// @throws IOException if the connection has failed, and nothing is left to read
    public int read(ByteBuffer target) throws IOException {
        lock.lock();
        try {
            if (protocol.available() == 0) {
                poll();
            }
            return protocol.read(target);
        } finally {
            lock.unlock();
        }
    }

    /// Reads what has arrived into some buffers, one after the other; see [#read(ByteBuffer)].
    public long read(ByteBuffer[] targets, int from, int count) throws IOException {
        lock.lock();
        try {
            long total = 0;
            for (int i = from; i < from + count; i++) {
                if (!targets[i].hasRemaining()) {
                    continue;
                }
                if (total > 0 && protocol.available() == 0) {
                    break;
                }
                int bytes = read(targets[i]);
                if (bytes <= 0) {
                    return total > 0 ? total : bytes;
                }
                total += bytes;
            }
            return total;
        } finally {
            lock.unlock();
        }
    }

    /// The number of bytes that can be read now.
    public int available() {
        lock.lock();
        try {
            poll();
            return protocol.available();
        } finally {
            lock.unlock();
        }
    }

    /// Writes as much as fits.
    ///
    /// @return the number of bytes; 0 also if this side has closed the connection
    /// @throws IOException if the peer has ended it
    public int write(ByteBuffer source) throws IOException {
        lock.lock();
        try {
            // The peer may already have sent the end of the stream.
            poll();
            return protocol.write(source);
        } catch (IOException e) {
            tell();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /// Writes as much as fits from some buffers, one after the other; see [#write(ByteBuffer)].
    public long write(ByteBuffer[] sources, int from, int count) throws IOException {
        lock.lock();
        try {
            poll();
            return protocol.write(sources, from, count);
        } catch (IOException e) {
            tell();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the stream to the peer, after what was written. Does not block.
    public void shutdownOutput() {
        lock.lock();
        try {
            poll();
            if (protocol.endOutput()) {
                tell();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- Mapped memory ----

    /// Maps memory that the peer can write. The peer learns of it before it receives anything that is written
    /// later.
    ///
    /// @param offset the offset at which the peer writes to it
    /// @param bytes its length, 1 to 4,294,967,295
    /// @throws IOException if the peer has no room for another mapping, the device none for the memory, or the
    ///         connection has ended
    public Mapping map(long offset, long bytes) throws IOException {
        if (offset < 0 || bytes < 1 || bytes > MOST_MAPPED || offset > Long.MAX_VALUE - bytes) {
            throw new IllegalArgumentException("cannot map " + bytes + " bytes at offset " + offset + "; 1 to "
                    + MOST_MAPPED + " bytes at an offset that is not negative are possible");
        }
        MemoryRegion region = null;
        boolean mapped = false;
        try {
            // Checked first, so that no memory is pinned in vain.
            checkOpen();
            region = domain.allocate(bytes, MAPPED);
            Mapping mapping = map(offset, region);
            mapped = true;
            return mapping;
        } catch (VerbException | IllegalStateException e) {
            throw new IOException("could not map " + bytes + " bytes for the peer: " + e.getMessage(), e);
        } finally {
            if (!mapped && region != null) {
                region.close();
            }
        }
    }

    private void checkOpen() throws IOException {
        lock.lock();
        try {
            poll();
            protocol.checkOpen();
        } finally {
            lock.unlock();
        }
    }

    private Mapping map(long offset, MemoryRegion region) throws IOException {
        lock.lock();
        try {
            poll();
            return protocol.map(offset, region, this::unmap);
        } finally {
            lock.unlock();
        }
    }

    private void unmap(Mapping mapping) {
        lock.lock();
        try {
            protocol.unmap(mapping);
        } finally {
            lock.unlock();
        }
    }

    /// Places as many bytes as fit in memory that the peer has mapped. They are there before the peer can read what
    /// is written to the stream later.
    ///
    /// @param offset the offset of the peer's memory to write to
    /// @return the number of bytes; 0 also if this side has closed the connection
    /// @throws IOException if the peer has not mapped all of that memory, or has ended the connection
    public int place(ByteBuffer source, long offset) throws IOException {
        lock.lock();
        try {
            poll();
            return protocol.place(source, offset);
        } catch (IOException e) {
            tell();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    // ---- Idle peers ----

    /// Probes an idle peer from now on, and ends the connection if it does not answer.
    ///
    /// @param settings the times; null for never
    public void keepAlive(@Nullable KeepAlive settings) {
        lock.lock();
        try {
            if (settings == null || protocol.isOver()) {
                idleClock.stop();
            } else {
                idleClock.start(settings);
            }
        } finally {
            lock.unlock();
        }
    }

    private void checkIdle() {
        lock.lock();
        try {
            poll();
            if (protocol.isOver() || !idleClock.isSilent()) {
                return;
            }
            if (idleClock.asked()) {
                protocol.giveUp();
                tell();
            } else {
                protocol.ask();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- Waiting ----

    /// Processes what has arrived.
    ///
    /// @return those of [Readiness#READ], [Readiness#WRITE] and [Readiness#PLACE] that would not have to wait
    public int progress() {
        lock.lock();
        try {
            poll();
            return protocol.ready();
        } finally {
            lock.unlock();
        }
    }

    /// Requests an event for the next completion, and processes what has arrived before.
    ///
    /// @return as [#progress()]
    public int arm() {
        lock.lock();
        try {
            if (!armed && !released) {
                armed = true;
                requestEvent();
            }
            poll();
            return protocol.ready();
        } finally {
            lock.unlock();
        }
    }

    private void requestEvent() {
        try {
            completionQueue.arm();
        } catch (IllegalStateException e) {
            // The device was closed; the next poll reports that.
        }
    }

    /// Takes an event of [#events()], and processes what has arrived.
    public void takeEvent() {
        lock.lock();
        try {
            if (released) {
                return;
            }
            if (waiters.takeEvent()) {
                eventTaken();
            }
        } finally {
            lock.unlock();
        }
    }

    private void eventTaken() {
        armed = false;
        poll();
        // Other threads may have relied on the event.
        tell();
    }

    /// The channel with an event after each [#arm()].
    public CompletionChannel events() {
        return events;
    }

    /// Notifies a listener of each change from now on.
    public void add(Readiness listener) {
        listeners.add(listener);
    }

    /// Stops notifying a listener.
    public void remove(Readiness listener) {
        listeners.remove(listener);
    }

    /// Waits until one of some operations is ready.
    ///
    /// @param wanted any of [Readiness#READ], [Readiness#WRITE] and [Readiness#PLACE]
    /// @param spinNanos how long to poll before sleeping
    /// @param nanos the longest wait
    /// @param ended whether to stop waiting; checked again after each [#wake()]
    /// @return whether one is ready; false after an interrupt, which stays pending
    public boolean await(int wanted, long spinNanos, long nanos, BooleanSupplier ended) {
        long begin = System.nanoTime();
        do {
            if ((progress() & wanted) != 0) {
                return true;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() - begin < Math.min(spinNanos, nanos));
        lock.lock();
        try {
            long left = nanos - (System.nanoTime() - begin);
            while ((arm() & wanted) == 0
                    && left > 0
                    && !ended.getAsBoolean()
                    && !Thread.currentThread().isInterrupted()) {
                if (waiters.await(left)) {
                    eventTaken();
                }
                left = nanos - (System.nanoTime() - begin);
            }
            return (protocol.ready() & wanted) != 0;
        } finally {
            lock.unlock();
        }
    }

    /// Makes all waiting threads check again whether to continue.
    public void wake() {
        lock.lock();
        try {
            tell();
        } finally {
            lock.unlock();
        }
    }

    /// Processes what has arrived. The caller holds the lock.
    private void poll() {
        if (released || isNothingNew()) {
            return;
        }
        int before = protocol.ready();
        if (protocol.poll() > 0) {
            idleClock.heard();
        }
        if ((protocol.ready() & ~before) != 0) {
            tell();
        }
    }

    /// Most polls would find nothing.
    private boolean isNothingNew() {
        try {
            return completionQueue.isKnownEmpty();
        } catch (IllegalStateException e) {
            // The device was closed; the poll reports that.
            return false;
        }
    }

    private void tell() {
        waiters.wakeAll();
        listeners.changed();
    }

    // ---- The end ----

    /// Ends the connection after what was written. Does not block: waits for data in flight in the background.
    ///
    /// @param timeout the longest wait
    /// @return the thread that waits: it ends when the peer has everything or the time is up
    public Thread close(Duration timeout) {
        lock.lock();
        try {
            Thread begun = closer;
            if (begun != null) {
                return begun;
            }
            poll();
            idleClock.stop();
            protocol.close();
            tell();
            Thread started = Thread.ofVirtual().name("rsocket-close").start(() -> finish(timeout.toNanos()));
            closer = started;
            return started;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the connection at once. The peer sees a reset.
    public void abort() {
        lock.lock();
        try {
            idleClock.stop();
            protocol.abort();
            tell();
        } finally {
            lock.unlock();
        }
        release();
    }

    /// Ends the streams at the exit of the process, which releases everything else.
    private void leaveAtExit() {
        lock.lock();
        try {
            poll();
            protocol.leave();
            tell();
        } finally {
            lock.unlock();
        }
        awaitDelivery(ExitHook.MOST_NANOS);
    }

    private void finish(long nanos) {
        awaitDelivery(nanos);
        release();
    }

    /// Waits until the peer has everything.
    ///
    /// @param nanos the longest wait
    private void awaitDelivery(long nanos) {
        long begin = System.nanoTime();
        lock.lock();
        try {
            long left = nanos;
            while (isLeaving() && left > 0) {
                var _ = arm();
                if (isLeaving() && waiters.await(left)) {
                    eventTaken();
                }
                left = nanos - (System.nanoTime() - begin);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isLeaving() {
        return !released && protocol.isLeaving();
    }

    private void release() {
        lock.lock();
        try {
            if (released) {
                return;
            }
            released = true;
            device.counters().remove(this);
            protocol.unmapAll();
            waiters.wakeAll();
        } finally {
            lock.unlock();
        }
        try (arena;
                domain;
                memory;
                events;
                completionQueue;
                queuePair) {
            Connection connected = connection;
            if (connected != null) {
                connected.close();
            }
        }
    }

    // ---- Counters ----

    /// The current counters. Does not wait, so the numbers may be a few operations apart.
    public ChannelStatistics statistics() {
        return counters.statistics();
    }

    @Override
    public String toString() {
        return "rsocket over " + queuePair;
    }
}
