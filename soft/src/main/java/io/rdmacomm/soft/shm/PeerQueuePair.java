package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.KeyTable;
import io.rdmacomm.soft.mapped.LineWriter;
import io.rdmacomm.soft.mapped.PeerKey;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairState;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The peer's queue pair, as the peer's control file shows it. Under the send lock of this side's queue pair.
final class PeerQueuePair {
    private static final int REMEMBERED_KEYS = 4;
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int DIRECT_VIEW = AccessFlag.DIRECT_VIEW.bit();

    private final int ownNumber;
    private final LocalMemory ownMemory;
    private final QueuePairBlock ownBlock;
    private boolean ofOwnContext;
    private @Nullable ShmPeer peer;
    private MemorySegment memory = MemorySegment.NULL;
    private int number;
    private long connection;
    private long block;
    private @Nullable ReceiveTaker entries;
    private @Nullable PeerReceives receives;
    private @Nullable CompletionProducer completions;
    // Copies of the keys that were used last, by the low bits of their indexes.
    private final PeerKey[] remoteKeys = new PeerKey[REMEMBERED_KEYS];
    private PeerKey receiveKey = new PeerKey(MemorySegment.NULL);
    private final NextReceive nextReceive = new NextReceive();
    private long foundOffset;
    private boolean foundMayFault;
    private boolean established;

    /// Not bound to a peer yet.
    ///
    /// @param ownMemory the memory of this side's context, which can be the peer's context, too
    /// @param ownBlock of this side's queue pair
    PeerQueuePair(int ownNumber, LocalMemory ownMemory, QueuePairBlock ownBlock) {
        this.ownNumber = ownNumber;
        this.ownBlock = ownBlock;
        this.ownMemory = ownMemory;
    }

    /// Checks that the peer's queue pair exists, is ready, is connected to this one with these numbers and
    /// over shared memory, and has rings.
    ///
    /// @param destination names it, and the number of this side's first packet if that is known yet
    /// @param ownGid this side's GID, which the peer's queue pair must name
    /// @return whether it is bound now
    boolean bind(ShmPeer candidate, Destination destination, int ownLid, Gid ownGid) {
        int itsNumber = destination.number();
        MemorySegment itsMemory = candidate.memory();
        long itsBlock = ControlLayout.queuePair(itsNumber);
        long identity = SharedWords.acquire(itsMemory, itsBlock + ControlLayout.QP_IDENTITY);
        if (!QueuePairBlock.isReady(identity, itsNumber)
                || !QueuePairBlock.isOnHost(itsMemory, itsBlock)
                || itsMemory.get(JAVA_INT, itsBlock + ControlLayout.QP_DESTINATION) != ownNumber
                || itsMemory.get(JAVA_INT, itsBlock + ControlLayout.QP_LID) != ownLid
                || itsMemory.get(JAVA_LONG, itsBlock + ControlLayout.QP_GID_HIGH) != ownGid.high()
                || itsMemory.get(JAVA_LONG, itsBlock + ControlLayout.QP_GID_LOW) != ownGid.low()
                || (destination.isSending()
                        && itsMemory.get(JAVA_INT, itsBlock + ControlLayout.QP_RECEIVE_PSN) != destination.sendPsn())) {
            return false;
        }
        ReceiveTaker itsReceives = ReceiveTaker.find(
                itsMemory, itsMemory.get(JAVA_LONG, itsBlock + ControlLayout.QP_RECEIVE_RING), ownLid, ownNumber);
        CompletionProducer itsCompletions = CompletionProducer.find(
                itsMemory, itsMemory.get(JAVA_LONG, itsBlock + ControlLayout.QP_RECEIVE_COMPLETIONS), ownLid);
        if (itsReceives == null || itsCompletions == null) {
            return false;
        }
        // An earlier peer may have left it open.
        ownBlock.closeJournal();
        LineWriter lines = itsReceives.lines();
        entries = itsReceives;
        receives = lines == null
                ? new RingReceives(itsReceives, itsCompletions, ownBlock, this)
                : new LineReceives(lines, itsCompletions, this);
        completions = itsCompletions;
        memory = itsMemory;
        number = itsNumber;
        connection = QueuePairBlock.connection(identity);
        block = itsBlock;
        peer = candidate;
        ofOwnContext = candidate.lid() == ownLid;
        Arrays.setAll(remoteKeys, _ -> new PeerKey(itsMemory));
        receiveKey = new PeerKey(itsMemory);
        nextReceive.forget();
        established = false;
        return true;
    }

    void unbind() {
        peer = null;
        entries = null;
        receives = null;
        completions = null;
        memory = MemorySegment.NULL;
    }

    /// Whether the queue pair exists and accepts messages.
    boolean isReady() {
        ShmPeer bound = peer;
        if (bound == null || !bound.isConnected()) {
            return false;
        }
        long identity = SharedWords.acquire(memory, block + ControlLayout.QP_IDENTITY);
        if (!QueuePairBlock.isReady(identity, number)
                || QueuePairBlock.connection(identity) != connection
                || !QueuePairBlock.isOnHost(memory, block)) {
            return false;
        }
        if (!established) {
            established = true;
            if (QueuePairBlock.state(identity) == QueuePairState.READY_TO_RECEIVE.code()) {
                bound.send(ShmMessage.ESTABLISHED, number, 0, 0);
            }
        }
        return true;
    }

    /// Whether the queue pair has not been reset or closed since it was bound. Even in the error state it waits for
    /// the end of receives that were taken.
    boolean hasReceives() {
        ShmPeer bound = peer;
        if (bound == null || !bound.isConnected()) {
            return false;
        }
        long identity = SharedWords.acquire(memory, block + ControlLayout.QP_IDENTITY);
        return (int) identity == number && QueuePairBlock.state(identity) != QueuePairState.RESET.code();
    }

    MemorySegment memory() {
        return memory;
    }

    @Nullable
    ShmPeer peer() {
        return peer;
    }

    /// Whether the peer's queue pair was found.
    boolean isBound() {
        return peer != null;
    }

    int number() {
        return number;
    }

    /// The entries of the peer's receives; only while it is bound.
    ReceiveTaker entries() {
        return bound(entries);
    }

    /// Takes and ends these receives; only while it is bound.
    PeerReceives receives() {
        return bound(receives);
    }

    /// The completion queue of these receives; only while it is bound.
    CompletionProducer completions() {
        return bound(completions);
    }

    private static <T> T bound(@Nullable T end) {
        if (end == null) {
            throw new IllegalStateException("no queue pair is bound");
        }
        return end;
    }

    int domain() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_DOMAIN);
    }

    int access() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_ACCESS);
    }

    int rnrTimer() {
        return memory.get(JAVA_INT, block + ControlLayout.QP_RNR_TIMER);
    }

    /// The oldest receive, which is at `position`.
    NextReceive nextReceive(long position) {
        nextReceive.read(memory, entries(), position);
        return nextReceive;
    }

    /// Reads the receive after the one at `position`, which has ended, if it is known to be posted.
    void readAhead(long position) {
        if (receives().isKnown(position + 1)) {
            nextReceive.read(memory, entries(), position + 1);
        }
    }

    void send(int type, int about, long first) {
        ShmPeer bound = peer;
        if (bound != null) {
            bound.send(type, about, first, 0);
        }
    }

    void announce(long queue, long result) {
        ShmPeer bound = peer;
        if (bound != null) {
            bound.announce(queue, result);
        }
    }

    /// Makes the peer's queue pair fail, too: the responder enters the error state when it answers.
    ///
    /// @return `status`
    int fault(int status, AsyncEventType event) {
        send(ShmMessage.FAULT, number, event.code());
        return status;
    }

    /// Invalidates a key of the peer (IBV_WR_SEND_WITH_INV): that of a window of type 2 which the peer's queue
    /// pair bound.
    ///
    /// @return false if it names no such window
    boolean invalidate(int key) {
        long entry = ControlLayout.key(key);
        return (key >>> 16) < SharedWords.opaqueInt(memory, ControlLayout.HEADER_KEYS)
                && memory.get(JAVA_INT, entry + ControlLayout.KEY_QUEUE_PAIR) == number
                && SharedWords.compareAndSet(
                        memory, entry + ControlLayout.KEY_WORD, KeyTable.word(key, KeyTable.WINDOW), 0);
    }

    /// Checks a key, range and right of the peer, and adds the memory to `into`.
    ///
    /// @param windows whether the key of a window counts, too
    /// @return whether the access is allowed
    boolean resolve(
            int key, long address, long length, int right, int expectedDomain, boolean windows, ElementList into) {
        PeerKey peerKey = remembered(key, windows);
        if (!allows(peerKey, key, address, length, right, expectedDomain, windows)) {
            return false;
        }
        long offset = peerKey.offsetOf(address);
        MemorySegment segment = isMappable(peerKey) ? mapped(peerKey) : null;
        if (segment == null) {
            return peerKey.file() <= 0 && addRegistered(key, address, peerKey.region(), offset, length, into);
        }
        into.add(segment, key, offset, length);
        into.mayFault |= peerKey.file() < 0;
        return true;
    }

    /// Whether to try to map it. A context that is its own peer has mapped files of the program already. Opening
    /// and closing them again would release the program's locks on them (fcntl(2)).
    private boolean isMappable(PeerKey peerKey) {
        return peerKey.file() > 0 || (peerKey.file() < 0 && !ofOwnContext);
    }

    /// Checks as [#resolve], and finds the memory if this process maps it. It begins at [#foundOffset()] of
    /// the segment. After the access follows [#throwFault()].
    ///
    /// @return null if the access is not allowed, or the memory is not mapped
    @Nullable
    MemorySegment find(int key, long address, long length, int right, int expectedDomain, boolean windows) {
        PeerKey peerKey = remembered(key, windows);
        if (!allows(peerKey, key, address, length, right, expectedDomain, windows) || !isMappable(peerKey)) {
            return null;
        }
        foundOffset = peerKey.offsetOf(address);
        foundMayFault = peerKey.file() < 0;
        return mapped(peerKey);
    }

    /// Throws the [InternalError] of a fault in an access to what [#find] has found, as [ElementList#throwFault()].
    void throwFault() {
        if (foundMayFault) {
            SharedWords.throwFault();
        }
    }

    long foundOffset() {
        return foundOffset;
    }

    private PeerKey remembered(int key, boolean windows) {
        return windows ? remoteKeys[key >>> 16 & REMEMBERED_KEYS - 1] : receiveKey;
    }

    /// Checks in the order of a responder: the key, the protection domain, the right, the range.
    private boolean allows(
            PeerKey peerKey, int key, long address, long length, int right, int expectedDomain, boolean windows) {
        return peerKey.load(key)
                && (windows || peerKey.isOfRegion())
                && peerKey.allows(number, expectedDomain, right)
                && peerKey.contains(address, length);
    }

    /// Maps the memory of a region of the peer for the program, with the checks of a READ, and of a WRITE unless the
    /// mapping is read-only.
    ///
    /// @return null if the peer does not allow it, or did not allocate the memory
    @Nullable
    MemorySegment directView(long address, long length, int key, Arena arena) throws IOException {
        PeerKey peerKey = remembered(key, true);
        int itsDomain = domain();
        ShmPeer bound = peer;
        boolean shared = allows(peerKey, key, address, length, DIRECT_VIEW, itsDomain, false)
                && peerKey.allows(number, itsDomain, access() & REMOTE_READ)
                && peerKey.file() > 0;
        boolean writable = peerKey.allows(number, itsDomain, access() & REMOTE_WRITE);
        return bound == null || !shared
                ? null
                : bound.view(peerKey.file(), peerKey.offsetOf(address), length, writable, arena);
    }

    private @Nullable MemorySegment mapped(PeerKey peerKey) {
        ShmPeer bound = peer;
        return bound == null ? null : bound.region(peerKey.fileKey() >>> 16, peerKey.file());
    }

    /// Whether a key that [#resolve] has accepted is still valid.
    boolean isValid(int key) {
        long word = SharedWords.acquire(memory, ControlLayout.key(key) + ControlLayout.KEY_WORD);
        return (int) word == key && (int) (word >>> 32) != 0;
    }

    /// Adds memory that no other process can map. A context that is its own peer finds the region among its own.
    private boolean addRegistered(int key, long address, int regionKey, long offset, long length, ElementList into) {
        if (!ofOwnContext) {
            into.addUnreachable(key, address, length);
            return true;
        }
        LocalRegion region = ownMemory.region(regionKey);
        if (region == null) {
            // Closed meanwhile. The closing thread waits for operations that found the region before.
            return false;
        }
        into.add(region, offset - region.fileOffset(), length);
        return true;
    }
}
