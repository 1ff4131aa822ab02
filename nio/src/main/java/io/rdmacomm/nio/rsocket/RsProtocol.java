package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The protocol of one rsocket: handles arriving messages, sends messages, and ends the connection. Never blocks.
/// Not thread-safe.
final class RsProtocol {
    /// The limit of control messages in flight.
    static final int CONTROLS = ConnectionMemory.GRANTS;
    /// The most completions that one poll takes.
    static final int POLLED = 32;

    private static final int NONE = 0;

    private final SocketDevice device;
    private final ConnectionMemory memory;
    private final Wire wire;
    private final CompletionQueue completionQueue;
    private final Completions completions;
    private final ChannelCounters counters;
    private final Outgoing outgoing;
    private final Incoming incoming;
    private final PeerMappings peerMappings;
    private final OwnMappings ownMappings = new OwnMappings();
    private final int credits;
    private final int half;

    private @Nullable Connection connection;
    private long peerTargets;
    private int peerTargetKey;
    private int peerTargetCount;
    private long peerTable;
    private boolean established;
    private boolean peerSends;
    private boolean peerReads;
    /// The number of control messages that can be posted, and one that waits for that.
    private int controls = CONTROLS;
    private int pending = NONE;
    /// The receives that have completed and were not posted again, and whether control messages are among them.
    private int unposted;
    private boolean controlsArrived;
    /// Whether a probe is in flight that the peer's device has not acknowledged yet.
    private boolean asking;
    private boolean closing;
    /// Whether the peer has ended its stream. Readers see that end whatever happens later.
    private boolean ended;
    /// The first failure, which becomes the cause of exceptions.
    private @Nullable IOException failure;
    private boolean timedOut;
    /// Whether a call of the program has thrown the failure.
    private boolean told;
    /// The status of the first request of this side that failed.
    private @Nullable WorkStatus lost;

    /// @param completions has room for [#POLLED]
    RsProtocol(
            SocketDevice device,
            BufferSizes sizes,
            ConnectionMemory memory,
            Wire wire,
            CompletionQueue completionQueue,
            Completions completions,
            ChannelCounters counters) {
        this.device = device;
        this.memory = memory;
        this.wire = wire;
        this.completionQueue = completionQueue;
        this.completions = completions;
        this.counters = counters;
        this.credits = sizes.messages();
        this.half = sizes.receive() / 2;
        this.outgoing = new Outgoing(wire, memory, sizes.send(), credits);
        this.incoming = new Incoming(memory, sizes);
        this.peerMappings = new PeerMappings(memory);
    }

    // ---- Beginning ----

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
        giveBack();
    }

    // ---- The streams ----

    /// Those of [Readiness#READ], [Readiness#WRITE] and [Readiness#PLACE] that would not have to wait.
    int ready() {
        if (!established) {
            return 0;
        }
        int ready = incoming.hasBytes() || !peerSends || closing ? Readiness.READ : 0;
        if (!peerReads || closing) {
            return ready | Readiness.WRITE | Readiness.PLACE;
        }
        ready = outgoing.canPlace() ? ready | Readiness.PLACE : ready;
        return outgoing.canSend() ? ready | Readiness.WRITE : ready;
    }

    /// The number of bytes that can be read.
    int available() {
        return incoming.bytes();
    }

    /// Reads what has arrived.
    ///
    /// @return the number of bytes; 0 if there are none yet, or this side has closed the connection; -1 at the end
    ///         of the stream
    /// @throws IOException if the connection has failed, and nothing is left to read
    int read(ByteBuffer target) throws IOException {
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
        IOException reason = failure;
        if (reason == null || ended) {
            return -1;
        }
        told = true;
        throw SocketFailures.ofRead(reason, timedOut);
    }

    /// Writes as much as fits.
    ///
    /// @return the number of bytes; 0 also if this side has closed the connection
    /// @throws IOException if the peer has ended it
    int write(ByteBuffer source) throws IOException {
        return mayWrite() ? (int) written(outgoing.write(source), source.hasRemaining()) : 0;
    }

    /// Writes as much as fits from some buffers, one after the other; see [#write(ByteBuffer)].
    long write(ByteBuffer[] sources, int from, int count) throws IOException {
        return mayWrite() ? written(outgoing.write(sources, from, count), hasRemaining(sources, from, count)) : 0;
    }

    private boolean mayWrite() throws IOException {
        if (closing) {
            return false;
        }
        if (!peerReads) {
            throw broken();
        }
        return true;
    }

    /// As in the kernel, the first call reports the failure, and later ones that the stream is broken.
    private IOException broken() {
        IOException reason = failure;
        if (reason == null || told) {
            return new IOException("Broken pipe", reason);
        }
        told = true;
        return new IOException(timedOut ? SocketFailures.TIMED_OUT : "Connection reset by peer", reason);
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
            throw broken();
        }
        counters.add(ChannelCounter.BYTES_OUT, bytes);
        if (stalled) {
            counters.count(outgoing.isPeerFull() ? ChannelCounter.CREDIT_STALLS : ChannelCounter.WINDOW_STALLS);
        }
        return bytes;
    }

    /// Ends the stream to the peer, after what was written.
    ///
    /// @return whether it had not ended before
    boolean endOutput() {
        if (!peerReads || closing) {
            return false;
        }
        peerReads = false;
        pending = peerSends ? RsMessage.SHUTDOWN : RsMessage.DISCONNECT;
        giveBack();
        return true;
    }

    // ---- Mapped memory ----

    /// @throws IOException if the connection has ended
    void checkOpen() throws IOException {
        if (!mayWrite()) {
            throw new IOException("the connection was closed");
        }
    }

    /// Maps memory that the peer can write. The peer learns of it before it receives anything that is written
    /// later.
    ///
    /// @param offset the offset at which the peer writes to it
    /// @param closer called when the mapping is closed
    /// @throws IOException if the peer has no room for another mapping, or the connection has ended
    Mapping map(long offset, MemoryRegion region, Consumer<Mapping> closer) throws IOException {
        checkOpen();
        Mapping mapping = ownMappings.add(offset, region, closer);
        giveBack();
        return mapping;
    }

    void unmap(Mapping mapping) {
        ownMappings.remove(mapping);
    }

    void unmapAll() {
        ownMappings.closeAll();
    }

    /// Places as many bytes as fit in memory that the peer has mapped.
    ///
    /// @param offset the offset of the peer's memory to write to
    /// @return the number of bytes; 0 also if this side has closed the connection
    /// @throws IOException if the peer has not mapped all of that memory, or has ended the connection
    int place(ByteBuffer source, long offset) throws IOException {
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

    // ---- What arrives ----

    /// Processes what has arrived, and answers it.
    ///
    /// @return the number of completed operations
    int poll() {
        int total = 0;
        try {
            int count;
            do {
                count = completionQueue.poll(completions);
                total += count;
                for (int i = 0; i < count; i++) {
                    complete(i);
                }
            } while (count == POLLED);
        } catch (ProtocolException | VerbException e) {
            fail(new IOException(e.getMessage(), e));
        } catch (IllegalStateException e) {
            fail(new IOException("the device was closed", e));
        }
        if (controlsArrived) {
            postReceives();
        }
        giveBack();
        return total;
    }

    /// Replaces the receives that have completed. The peer has receives for all messages with bytes that it may send.
    /// So
    /// those of such messages are only needed when it may send more; those of control messages are needed at once.
    private void postReceives() {
        controlsArrived = false;
        if (unposted > 0 && (peerSends || peerReads)) {
            wire.receive(unposted);
            unposted = 0;
        }
    }

    private void complete(int index) throws ProtocolException {
        long id = completions.workId(index);
        if ((id & Wire.RECEIVE) == 0) {
            // If a request fails, the receives fail too, but only after those that have succeeded: there may be
            // more to read.
            boolean success = completions.isSuccess(index);
            counters.add(success ? ChannelCounter.COMPLETED : ChannelCounter.FAILED, operations(id));
            if (!success && lost == null) {
                lost = completions.status(index);
            }
            sent(id, success);
            return;
        }
        if (completions.isSuccess(index)) {
            unposted++;
            received(wire.message(completions, index));
            return;
        }
        if ((peerSends || peerReads) && !closing) {
            // The unanswered probe is the reason.
            timedOut |= asking;
            fail(new IOException(reason()));
        }
    }

    /// The number of operations that a completion of this side ends: also those that were not signaled.
    private int operations(long id) {
        return (id & Wire.SENT) == 0 ? 1 : Math.max(1, Wire.requests(id) / wire.requests());
    }

    /// The reason, if known, why the device flushed the receives.
    private String reason() {
        Connection connected = connection;
        String known = connected == null ? null : connected.disconnectReason();
        if (known != null) {
            return known;
        }
        WorkStatus status = lost;
        return status == null || status == WorkStatus.FLUSHED
                ? "the connection of the queue pair has ended"
                : "a request of this side has failed with " + status;
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
        if ((id & Wire.SENT) != 0) {
            outgoing.sent(id, success);
        } else {
            controls++;
        }
    }

    private void received(int message) throws ProtocolException {
        RsMessage.Kind kind = RsMessage.kind(message);
        controlsArrived |= kind != RsMessage.Kind.DATA;
        switch (kind) {
            case DATA -> {
                int bytes = RsMessage.bytes(message);
                incoming.arrived(bytes);
                counters.count(ChannelCounter.MESSAGES);
                counters.add(ChannelCounter.BYTES_IN, bytes);
            }
            case CREDITS -> outgoing.granted(RsMessage.limit(message));
            case MAPPING -> {
                incoming.arrivedWithoutBytes();
                peerMappings.take(RsMessage.index(message));
            }
            case DISCONNECT -> {
                ended = true;
                peerSends = false;
                peerReads = false;
            }
            case SHUTDOWN -> {
                ended = true;
                peerSends = false;
            }
            case UNKNOWN ->
                throw new ProtocolException(
                        "the peer sent message 0x" + Integer.toHexString(message) + ", which rsockets do not have");
        }
    }

    /// Sends grants, credits and mappings that the peer is waiting for, and the end of the stream.
    private void giveBack() {
        if (!established) {
            return;
        }
        while (controls > 0 && (peerSends || peerReads) && !closing) {
            boolean grant = incoming.owesGrant();
            if (!grant && !incoming.owesCredits()) {
                break;
            }
            postReceives();
            int at = grant ? incoming.prepareGrant() : 0;
            controls--;
            counters.count(ChannelCounter.CREDIT_UPDATES);
            if (grant) {
                long target = peerTargets + (long) ConnectionMemory.TARGET_BYTES * incoming.takeTarget(peerTargetCount);
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

    // ---- The end ----

    /// Sends a probe, unless one is in flight.
    void ask() {
        if (!asking && controls > 0) {
            asking = true;
            controls--;
            wire.ask();
        }
    }

    /// Fails the connection, because the peer has not answered any probe.
    void giveUp() {
        timedOut = true;
        fail(new IOException("the peer has not answered any question of SO_KEEPALIVE"));
    }

    /// The connection manager has reported the end of the connection.
    void disconnected(String reason) {
        if (!isOver()) {
            fail(new IOException(reason));
        }
    }

    /// Whether both streams have ended, or this side has closed the connection.
    boolean isOver() {
        return closing || (!peerSends && !peerReads);
    }

    /// Ends both streams after what was written.
    void close() {
        if (peerSends || peerReads) {
            pending = RsMessage.DISCONNECT;
        }
        closing = true;
        giveBack();
    }

    /// Ends both streams for the peer, after what was written. Threads of this side that wait for bytes are not
    /// notified.
    void leave() {
        if (established && (peerSends || peerReads)) {
            peerReads = false;
            pending = RsMessage.DISCONNECT;
            giveBack();
        }
    }

    /// Ends both streams at once.
    void abort() {
        closing = true;
        fail(new IOException("this side has reset the connection"));
    }

    private void fail(IOException cause) {
        if (failure == null) {
            failure = cause;
            Connection connected = connection;
            if (connected != null && !closing) {
                String words = SocketFailures.reason(SocketFailures.ofRead(cause, timedOut));
                SocketRecording.failed(connected.remoteAddress().toString(), words);
            }
            if (connected != null && cause.getCause() instanceof ProtocolException) {
                // The peer must not continue after it has violated the protocol.
                Thread.ofVirtual().name("rsocket-disconnect").start(connected::close);
            }
        }
        peerSends = false;
        peerReads = false;
        pending = NONE;
    }

    /// Whether data is in flight to a peer that still accepts it.
    boolean isLeaving() {
        return established && failure == null && (pending != NONE || controls < CONTROLS || !outgoing.isSent());
    }
}
