package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.ReceiveTaker;

/// Receives that several sides take from a ring, and that complete in the ring of the peer's completion queue. The
/// journal names the one that this side has taken, so that the peer can flush it if this process dies before it
/// completes it.
final class RingReceives implements PeerReceives {
    private final ReceiveTaker ring;
    private final CompletionProducer completions;
    private final QueuePairBlock block;
    private final PeerQueuePair peer;
    private long knownTail;

    /// @param block has the journal of what this side is doing to the peer
    RingReceives(ReceiveTaker ring, CompletionProducer completions, QueuePairBlock block, PeerQueuePair peer) {
        this.ring = ring;
        this.completions = completions;
        this.block = block;
        this.peer = peer;
    }

    /// The tail is in a cache line that the peer writes with every receive it posts, so it is read only when all
    /// known receives are used up.
    @Override
    public long oldest() {
        long head = ring.head();
        if (head >= knownTail) {
            knownTail = ring.tail();
        }
        return head < knownTail ? head : -1;
    }

    @Override
    public long workId(long position) {
        return ring.workId(ring.entry(position));
    }

    @Override
    public boolean isKnown(long position) {
        return position < knownTail;
    }

    @Override
    public boolean takesPayload(long position, long bytes) {
        return false;
    }

    @Override
    public long payload(long position) {
        throw new IllegalStateException("these receives have no lines");
    }

    @Override
    public boolean take(long position, long workId) {
        block.openJournal(position, workId);
        if (!ring.take(position)) {
            block.closeJournal();
            return false;
        }
        int shared = ring.sharedNumber();
        if (shared != 0 && ring.crossedLimit()) {
            peer.send(ShmMessage.LIMIT, shared, 0);
        }
        return true;
    }

    @Override
    public boolean takeWithoutMemory(long position, long workId) {
        return take(position, workId);
    }

    @Override
    public boolean mayComplete() {
        return block.claimJournal();
    }

    @Override
    public long complete(CompletionFields fields, boolean payloadIsPlaced) {
        long result = completions.push(block.memory(), block.completionJournal(), fields);
        block.closeJournal();
        return result;
    }

    @Override
    public boolean hasArrived() {
        return true;
    }

    @Override
    public void giveUp() {
        block.closeJournal();
    }
}
