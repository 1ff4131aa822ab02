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
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
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
/// Nothing happens in the background: what arrives is noticed by whoever calls [#progress()], reads or writes.
/// That thread tells all others through [Readiness] and wakes those in [#await]. After [#keepAlive] one more thread
/// does so from time to time, the same one for all connections.
public final class RsConnection {
    /// Bytes can be read, or the stream has ended.
    public static final int READ = 1;
    /// Bytes can be written, or writing fails.
    public static final int WRITE = 2;
    /// Bytes can be placed in memory that the peer has mapped, or that fails.
    public static final int PLACE = 4;

    private static final int CONTROLS = ConnectionMemory.GRANTS;
    private static final int SPARE_RECEIVES = 8;
    private static final int POLLED = 32;
    private static final String TIMED_OUT = "Connection timed out";
    private static final int NONE = 0;
    private static final long MOST_MAPPED = 0xffff_ffffL;
    private static final Set<AccessFlag> MAPPED = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

    private final SocketDevice device;
    private final Arena arena;
    private final CompletionChannel events;
    private final CompletionQueue completionQueue;
    private final QueuePair queuePair;
    /// No other connection shares it, so the peer of another one cannot use the keys of this one.
    private final ProtectionDomain domain;
    private final ConnectionMemory memory;
    private final Wire wire;
    private final Outgoing outgoing;
    private final Incoming incoming;
    private final PeerMappings peerMappings;
    private final OwnMappings ownMappings = new OwnMappings();
    private final IdleClock idleClock = new IdleClock(this::checkIdle);
    private final Completions completions;
    private final int receives;
    private final int credits;
    private final int half;
    private final ChannelCounters counters = new ChannelCounters();
    private final ReentrantLock lock = new ReentrantLock();
    private final Waiters waiters;
    private final Listeners listeners = new Listeners();

    private @Nullable Connection connection;
    private long peerTargets;
    private int peerTargetKey;
    private int peerTargetCount;
    private long peerTable;
    private boolean established;
    private boolean peerSends;
    private boolean peerReads;
    /// How many control messages can be posted, and one that waits for that.
    private int controls = CONTROLS;
    private int pending = NONE;
    /// Whether the peer was asked for a sign of life, and its device has not confirmed that yet.
    private boolean asking;
    private boolean armed;
    private boolean closing;
    private boolean released;
    /// Waits for what is on its way after [#close].
    private @Nullable Thread closer;
    private @Nullable IOException failure;

    /// A connection that is not established yet.
    ///
    /// @throws VerbException if the device or the system has no room for another one; the message says what to
    ///        raise
    RsConnection(SocketDevice device, BufferSizes sizes) {
        this.device = device;
        this.credits = sizes.messages();
        this.receives = credits + SPARE_RECEIVES;
        this.half = sizes.receive() / 2;
        int sends = credits + 2 * CONTROLS;
        Partial partial = new Partial();
        try {
            arena = partial.add(Arena.ofShared());
            completions = Completions.create(arena, POLLED);
            events = partial.add(device.context().createCompletionChannel());
            completionQueue = partial.add(device.context()
                    .createCompletionQueue(
                            CompletionQueueOptions.ofCapacity(sends + receives).withChannel(events)));
            domain = partial.add(device.context().allocateProtectionDomain());
            memory = partial.add(new ConnectionMemory(domain, device.budget(), sizes, receives));
            queuePair = partial.add(domain.createQueuePair(QueuePairOptions.reliable(completionQueue)
                    .withSizes(new QueueSizes(sends, receives, 2, 1, Integer.BYTES))));
            wire = new Wire(queuePair, memory, arena, receives, device.isImmediate(), counters);
            partial.keep();
        } finally {
            partial.close();
        }
        outgoing = new Outgoing(wire, memory, sizes.send(), credits);
        incoming = new Incoming(memory, sizes.receive(), credits);
        peerMappings = new PeerMappings(memory);
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
        ConnectionData data = new ConnectionData(
                credits,
                memory.mappings(),
                memory.targets(),
                memory.region().remoteKey(),
                ConnectionMemory.TARGETS,
                memory.region().address(),
                memory.region().remoteKey(),
                half,
                immediate);
        return data.bytes(device.manager().privateDataLimit());
    }

    /// The connection is established.
    void begin(Connection connected, ConnectionData peer) {
        lock.lock();
        try {
            connection = connected;
            peerTargets = peer.targets();
            peerTargetKey = peer.targetKey();
            peerTargetCount = peer.targetCount();
            if (peer.immediate() && device.canBeImmediate()) {
                wire.sendImmediate();
            }
            peerTable = peer.table();
            outgoing.begin(peer, device.isImmediate());
            ownMappings.begin(peer);
            established = true;
            peerSends = true;
            peerReads = true;
            device.counters().add(this, connected);
            poll();
        } finally {
            lock.unlock();
        }
        var _ = connected.onDisconnect().thenAccept(this::disconnected);
    }

    private void disconnected(String reason) {
        lock.lock();
        try {
            poll();
            if ((peerSends || peerReads) && !closing) {
                fail(new IOException("Connection reset: " + reason));
            }
            tell();
        } finally {
            lock.unlock();
        }
    }

    // ---- The streams ----

    /// Reads what has arrived.
    ///
    /// @return how many bytes; 0 if there are none yet, or this side has closed the connection; -1 at the end of
    ///        the stream
    /// @throws IOException if the connection has failed, and nothing is left to read
    public int read(ByteBuffer target) throws IOException {
        lock.lock();
        try {
            if (!incoming.hasBytes()) {
                poll();
            }
            if (closing) {
                return 0;
            }
            if (incoming.hasBytes()) {
                int bytes = incoming.read(target);
                giveBack();
                return bytes;
            }
            if (peerSends) {
                return 0;
            }
            IOException cause = failure;
            if (cause != null) {
                throw new IOException(cause.getMessage(), cause);
            }
            return -1;
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
                if (total > 0 && !incoming.hasBytes()) {
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

    /// How many bytes can be read now.
    public int available() {
        lock.lock();
        try {
            poll();
            return incoming.bytes();
        } finally {
            lock.unlock();
        }
    }

    /// Writes as much as there is room for.
    ///
    /// @return how many bytes; 0, too, if this side has closed the connection
    /// @throws IOException if the peer has ended it
    public int write(ByteBuffer source) throws IOException {
        lock.lock();
        try {
            return mayWrite() ? (int) written(outgoing.write(source), source.hasRemaining()) : 0;
        } finally {
            lock.unlock();
        }
    }

    /// Writes as much as there is room for from some buffers, one after the other; see [#write(ByteBuffer)].
    public long write(ByteBuffer[] sources, int from, int count) throws IOException {
        lock.lock();
        try {
            return mayWrite() ? written(outgoing.write(sources, from, count), hasRemaining(sources, from, count)) : 0;
        } finally {
            lock.unlock();
        }
    }

    private boolean mayWrite() throws IOException {
        // What the peer has sent may be the end.
        poll();
        if (closing) {
            return false;
        }
        if (!peerReads) {
            IOException cause = failure;
            throw cause == null ? new IOException("Broken pipe") : new IOException(cause.getMessage(), cause);
        }
        return true;
    }

    private static boolean hasRemaining(ByteBuffer[] buffers, int from, int count) {
        for (int i = from; i < from + count; i++) {
            if (buffers[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /// @param stalled whether there was no room for all
    private long written(long bytes, boolean stalled) throws IOException {
        if (bytes < 0) {
            // What has arrived can still be read.
            peerReads = false;
            tell();
            throw new IOException("Broken pipe");
        }
        counters.add(ChannelCounter.BYTES_OUT, bytes);
        if (stalled) {
            counters.count(outgoing.isPeerFull() ? ChannelCounter.CREDIT_STALLS : ChannelCounter.WINDOW_STALLS);
        }
        return bytes;
    }

    /// Ends the stream to the peer, after what was written. Does not block.
    public void shutdownOutput() {
        lock.lock();
        try {
            poll();
            if (peerReads && !closing) {
                peerReads = false;
                pending = peerSends ? Message.SHUTDOWN : Message.DISCONNECT;
                giveBack();
                tell();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- Mapped memory ----

    /// Maps memory that the peer can write. The peer hears of it before anything that is written later.
    ///
    /// @param offset where it begins for the peer
    /// @param bytes its length, 1 to 4,294,967,295
    /// @throws IOException if the peer has no room for another mapping, the device none for the memory, or the
    ///         connection has ended
    public Mapping map(long offset, long bytes) throws IOException {
        if (offset < 0 || bytes < 1 || bytes > MOST_MAPPED || offset > Long.MAX_VALUE - bytes) {
            throw new IllegalArgumentException("cannot map " + bytes + " bytes at offset " + offset + "; 1 to "
                    + MOST_MAPPED + " bytes at an offset that is not negative are possible");
        }
        MemoryRegion region = null;
        lock.lock();
        try {
            // Before memory is pinned in vain.
            checkOpen();
        } finally {
            lock.unlock();
        }
        boolean mapped = false;
        try {
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

    private Mapping map(long offset, MemoryRegion region) throws IOException {
        lock.lock();
        try {
            checkOpen();
            Mapping mapping = ownMappings.add(this, offset, region);
            giveBack();
            return mapping;
        } finally {
            lock.unlock();
        }
    }

    private void checkOpen() throws IOException {
        if (!mayWrite()) {
            throw new IOException("the connection was closed");
        }
    }

    void unmap(Mapping mapping) {
        lock.lock();
        try {
            ownMappings.remove(mapping);
        } finally {
            lock.unlock();
        }
    }

    /// Places as many bytes as there is room for in memory that the peer has mapped. They are there before the
    /// peer can read what is written to the stream later.
    ///
    /// @param offset where they go
    /// @return how many bytes; 0, too, if this side has closed the connection
    /// @throws IOException if the peer has not mapped all of that memory, or has ended the connection
    public int place(ByteBuffer source, long offset) throws IOException {
        lock.lock();
        try {
            if (!mayWrite()) {
                return 0;
            }
            checkMapped(offset, source.remaining());
            int total = 0;
            while (source.hasRemaining() && outgoing.canPlace()) {
                long at = offset + total;
                int index = peerMappings.find(at);
                int bytes = outgoing.place(
                        source, peerMappings.left(index, at), peerMappings.address(index, at), peerMappings.key(index));
                total += (int) written(bytes, false);
            }
            return total;
        } finally {
            lock.unlock();
        }
    }

    private void checkMapped(long offset, int bytes) throws IOException {
        long at = offset;
        while (at - offset < bytes) {
            int index = peerMappings.find(at);
            if (index < 0) {
                throw new IOException("the peer has mapped nothing at offset " + at
                        + "; it must map memory and then write to the stream, and this side must read that first");
            }
            at += peerMappings.left(index, at);
        }
    }

    // ---- Idle peers ----

    /// Asks an idle peer for signs of life from now on, and ends the connection if there are none.
    ///
    /// @param settings when; null for never
    public void keepAlive(@Nullable KeepAlive settings) {
        lock.lock();
        try {
            if (settings == null || closing) {
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
            if (closing || (!peerSends && !peerReads) || !idleClock.isSilent()) {
                return;
            }
            if (idleClock.asked()) {
                fail(new IOException(TIMED_OUT));
                tell();
            } else if (!asking && controls > 0) {
                // The device repeats it, so there is one at a time.
                asking = true;
                controls--;
                wire.ask();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- Waiting ----

    /// Which of [#READ], [#WRITE] and [#PLACE] would not find anything to wait for.
    public int ready() {
        lock.lock();
        try {
            return readyNow();
        } finally {
            lock.unlock();
        }
    }

    private int readyNow() {
        if (!established) {
            return 0;
        }
        int ready = incoming.hasBytes() || !peerSends || closing ? READ : 0;
        if (!peerReads || closing) {
            return ready | WRITE | PLACE;
        }
        ready = outgoing.canPlace() ? ready | PLACE : ready;
        return outgoing.canSend() ? ready | WRITE : ready;
    }

    /// Notices what has arrived.
    ///
    /// @return [#ready()]
    public int progress() {
        lock.lock();
        try {
            poll();
            return readyNow();
        } finally {
            lock.unlock();
        }
    }

    /// Requests an event for the next completion, and notices what has arrived before.
    ///
    /// @return [#ready()]
    public int arm() {
        lock.lock();
        try {
            if (!armed && !released) {
                armed = true;
                requestEvent();
            }
            poll();
            return readyNow();
        } finally {
            lock.unlock();
        }
    }

    private void requestEvent() {
        try {
            completionQueue.arm();
        } catch (IllegalStateException e) {
            // The device was closed, which the next poll finds out.
        }
    }

    /// Takes an event of [#events()], and notices what has arrived.
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
        // Others may have relied on the event.
        tell();
    }

    /// Has an event after each [#arm()].
    public CompletionChannel events() {
        return events;
    }

    /// Informs a listener of each change from now on.
    public void add(Readiness listener) {
        listeners.add(listener);
    }

    /// No longer informs a listener.
    public void remove(Readiness listener) {
        listeners.remove(listener);
    }

    /// Waits until one of some operations is ready.
    ///
    /// @param wanted any of [#READ], [#WRITE] and [#PLACE]
    /// @param spinNanos how long not to sleep
    /// @param nanos the longest wait
    /// @param ended whether there is nothing to wait for any more; asked again after each [#wake()]
    /// @return whether one is; not after an interrupt, which stays pending
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
            return (readyNow() & wanted) != 0;
        } finally {
            lock.unlock();
        }
    }

    /// Has all threads that wait check again whether they should.
    public void wake() {
        lock.lock();
        try {
            tell();
        } finally {
            lock.unlock();
        }
    }

    // ---- What arrives; with the lock ----

    private void poll() {
        if (released) {
            return;
        }
        int before = readyNow();
        int arrived = 0;
        int total = 0;
        try {
            int count;
            do {
                count = completionQueue.poll(completions);
                total += count;
                for (int i = 0; i < count; i++) {
                    arrived += complete(i);
                }
            } while (count == POLLED);
        } catch (ProtocolException | VerbException e) {
            fail(new IOException(e.getMessage(), e));
        } catch (IllegalStateException e) {
            fail(new IOException("Connection reset: the device was closed", e));
        }
        if (arrived > 0 && (peerSends || peerReads)) {
            wire.receive(arrived);
        }
        if (total > 0) {
            idleClock.heard();
        }
        giveBack();
        int now = readyNow();
        if ((now & ~before) != 0) {
            tell();
        }
    }

    /// @return how many receives have completed
    private int complete(int index) throws ProtocolException {
        long id = completions.workId(index);
        if ((id & Wire.RECEIVE) == 0) {
            // If it has failed, so do the receives, after those that have succeeded: there may be more to read.
            boolean success = completions.isSuccess(index);
            counters.count(success ? ChannelCounter.COMPLETED : ChannelCounter.FAILED);
            sent(id, success);
            return 0;
        }
        if (completions.isSuccess(index)) {
            received(wire.message(completions, index));
            return 1;
        }
        if ((peerSends || peerReads) && !closing) {
            WorkStatus status = completions.status(index);
            // What the peer did not answer is the reason.
            fail(new IOException(asking ? TIMED_OUT : "Connection reset: " + status));
        }
        return 0;
    }

    private void sent(long id, boolean success) {
        if ((id & Wire.PLACED) != 0) {
            outgoing.placed((int) id);
            return;
        }
        if (id == Wire.ALIVE) {
            asking = !success;
            controls++;
            return;
        }
        int message = (int) id;
        switch (Message.kind(message)) {
            case DATA -> outgoing.sent(Message.bytes(message));
            case MAPPING -> outgoing.sent(ConnectionMemory.MAPPING_BYTES);
            default -> controls++;
        }
    }

    private void received(int message) throws ProtocolException {
        switch (Message.kind(message)) {
            case DATA -> {
                int bytes = Message.bytes(message);
                incoming.arrived(bytes);
                counters.count(ChannelCounter.MESSAGES);
                counters.add(ChannelCounter.BYTES_IN, bytes);
            }
            case CREDITS -> outgoing.granted(Message.limit(message));
            case MAPPING -> {
                incoming.arrivedWithoutBytes();
                peerMappings.take(Message.index(message));
            }
            case DISCONNECT -> {
                peerSends = false;
                peerReads = false;
            }
            case SHUTDOWN -> peerSends = false;
            case UNKNOWN ->
                throw new ProtocolException(
                        "the peer sent message 0x" + Integer.toHexString(message) + ", which rsockets do not have");
        }
    }

    /// Sends what the peer waits for, and the end.
    private void giveBack() {
        if (!established || released) {
            return;
        }
        while (controls > 0 && (peerSends || peerReads) && !closing) {
            boolean grant = incoming.owesGrant();
            if (!grant && !incoming.owesCredits()) {
                break;
            }
            controls--;
            counters.count(ChannelCounter.CREDIT_UPDATES);
            if (grant) {
                long target = peerTargets + (long) ConnectionMemory.TARGET_BYTES * incoming.takeTarget(peerTargetCount);
                int at = incoming.prepareGrant();
                wire.grant(incoming.credits(), at, target, peerTargetKey);
            } else {
                wire.message(incoming.credits());
            }
        }
        tellMappings();
        if (pending != NONE && controls > 0) {
            int message = pending;
            pending = NONE;
            controls--;
            wire.message(message);
        }
    }

    private void tellMappings() {
        while (peerReads && !closing && outgoing.canMap()) {
            Mapping mapping = ownMappings.pollUntold();
            if (mapping == null) {
                return;
            }
            long entry = peerTable + (long) ConnectionMemory.MAPPING_BYTES * mapping.index();
            peerReads = outgoing.map(mapping, entry, peerTargetKey);
        }
    }

    private void fail(IOException cause) {
        if (failure == null) {
            failure = cause;
            Connection connected = connection;
            if (connected != null && !closing) {
                SocketErrorEvent.record(connected.remoteAddress().toString(), "" + cause.getMessage());
            }
            disconnect(cause);
        }
        peerSends = false;
        peerReads = false;
        pending = NONE;
    }

    /// The peer must not go on after it has broken the rules.
    private void disconnect(IOException cause) {
        Connection connected = connection;
        if (connected != null && cause.getCause() instanceof ProtocolException) {
            Thread.ofVirtual().name("rsocket-disconnect").start(connected::close);
        }
    }

    private void tell() {
        waiters.wakeAll();
        listeners.changed();
    }

    // ---- The end ----

    /// Ends the connection after what was written. Does not block: what is on its way is waited for in the
    /// background.
    ///
    /// @param patience how long that may take
    /// @return ends when the peer has everything, or the patience is over
    public Thread close(Duration patience) {
        lock.lock();
        try {
            Thread begun = closer;
            if (begun != null) {
                return begun;
            }
            poll();
            if (peerSends || peerReads) {
                pending = Message.DISCONNECT;
            }
            closing = true;
            idleClock.stop();
            giveBack();
            tell();
            Thread started = Thread.ofVirtual().name("rsocket-close").start(() -> finish(patience.toNanos()));
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
            closing = true;
            idleClock.stop();
            fail(new IOException("Connection reset"));
            tell();
        } finally {
            lock.unlock();
        }
        release();
    }

    private void finish(long nanos) {
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
        release();
    }

    /// Whether something is on its way to a peer that still takes it.
    private boolean isLeaving() {
        return established
                && failure == null
                && !released
                && (pending != NONE || controls < CONTROLS || !outgoing.isSent());
    }

    private void release() {
        lock.lock();
        try {
            if (released) {
                return;
            }
            released = true;
            ownMappings.closeAll();
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

    /// What was counted so far. Does not wait: the numbers may be a few operations apart.
    public ChannelStatistics statistics() {
        return counters.statistics();
    }

    @Override
    public String toString() {
        return "rsocket over " + queuePair;
    }
}
