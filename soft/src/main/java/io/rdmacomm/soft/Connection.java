package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.CompletionRing;
import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.soft.shm.ReceiveRing;
import io.rdmacomm.soft.shm.SharedWords;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Which queue pair of which context this one is connected to, by the numbers that were exchanged, and whether
/// that context is there. Changed under the queue pair's locks.
final class Connection {
    private final SoftContext context;
    private final OwnBlock own;
    private final PeerQueuePair peer;
    private Gid gid = Gid.NONE;
    private int lid;
    private int number;
    private int sendPsn;
    private volatile @Nullable Peer found;

    Connection(SoftContext context, OwnBlock own, PeerQueuePair peer) {
        this.context = context;
        this.own = own;
        this.peer = peer;
    }

    /// Takes the peer's numbers from the transition to READY_TO_RECEIVE.
    void name(QueuePairAttributes attributes) {
        AddressVector way = attributes.addressVector();
        gid = way == null ? Gid.NONE : way.destinationGid();
        lid = way == null ? 0 : way.destinationLid();
        number = attributes.destinationNumber();
        own.destination(gid, lid, number, attributes.receivePsn());
    }

    void sendPsn(int psn) {
        sendPsn = psn;
    }

    /// Looks for the peer's queue pair, unless it is bound.
    void bindIfNeeded() {
        if (peer.peer() == null) {
            bind();
        }
    }

    /// Looks for the peer's queue pair, which may have appeared or become ready.
    void bind() {
        Peer before = found;
        if (before != null && !before.isAlive()) {
            // Its end is about to be dealt with, for every queue pair that knows that it was its peer.
            peer.unbind();
            return;
        }
        Peer context = this.context.peers().find(gid, lid);
        found = context;
        if (context == null || !peer.bind(context, number, this.context.lid(), this.context.gid(), sendPsn)) {
            peer.unbind();
        }
    }

    void forget() {
        peer.unbind();
        found = null;
    }

    /// Whether the context that has said hello is the peer's, and was not known yet.
    boolean isAwaiting(Gid itsGid, int itsLid) {
        return found == null && lid == itsLid && gid.equals(itsGid);
    }

    boolean isTo(Peer candidate) {
        return candidate.equals(found);
    }

    /// Waits until the peer's queue pair is not in the middle of an operation that began before.
    void awaitPeer() {
        Peer now = found;
        if (now != null) {
            try {
                Executions.await(now.memory(), ControlLayout.queuePair(number), now);
            } catch (IllegalStateException e) {
                // The engine has just unmapped it, because it is dead: nothing is under way there.
                found = null;
            }
        }
    }

    /// Completes the receive that the peer had taken when it died, and not completed yet.
    ///
    /// @param receives the receives of this side
    /// @param flush completes a receive with this work id
    void settleJournal(Peer gone, ReceiveRing receives, CompletionRing completions, Flush flush, int ownNumber) {
        MemorySegment theirs = gone.memory();
        long block = ControlLayout.queuePair(number);
        if ((int) SharedWords.acquire(theirs, block + ControlLayout.QP_IDENTITY) != number) {
            return;
        }
        long receive = SharedWords.acquire(theirs, block + ControlLayout.QP_JOURNAL_RECEIVE);
        if (receive == 0 || !receives.isTaken(receive - 1)) {
            return;
        }
        long workId = theirs.get(JAVA_LONG, block + ControlLayout.QP_JOURNAL_WORK_ID);
        long slot = theirs.get(JAVA_LONG, block + ControlLayout.QP_JOURNAL_COMPLETION);
        if (slot == 0) {
            flush.receive(workId);
        } else {
            completions.fillClaim(slot - 1, gone.lid(), workId, WorkStatus.FLUSHED.code(), ownNumber);
        }
    }

    /// Completes a receive as flushed.
    interface Flush {
        void receive(long workId);
    }
}
