package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
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
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// Which queue pair of which context this one is connected to, by the numbers that were exchanged, and whether
/// that context is there. Changed under the queue pair's locks.
final class Destination {
    private static final long CALL_NANOS = 2_000_000;

    private final SoftContext context;
    private final SoftQueuePair queuePair;
    private final OwnBlock own;
    private final PeerQueuePair peer;
    private Gid gid = Gid.NONE;
    private int lid;
    private int number;
    private int receivePsn;
    private int sendPsn;
    private boolean speaks;
    private @Nullable OutgoingCall call;
    private boolean asked;
    private boolean adopted;
    private long nextCall;
    private volatile @Nullable Peer found;

    Destination(SoftContext context, SoftQueuePair queuePair, OwnBlock own, PeerQueuePair peer) {
        this.context = context;
        this.queuePair = queuePair;
        this.own = own;
        this.peer = peer;
    }

    /// Takes the peer's numbers from the transition to READY_TO_RECEIVE.
    void name(QueuePairAttributes attributes) {
        AddressVector way = attributes.addressVector();
        gid = way == null ? Gid.NONE : way.destinationGid();
        lid = way == null ? 0 : way.destinationLid();
        number = attributes.destinationNumber();
        receivePsn = attributes.receivePsn();
        own.destination(gid, lid, number, attributes.receivePsn());
    }

    void sendPsn(int psn) {
        sendPsn = psn;
        speaks = true;
        nextCall = System.nanoTime();
    }

    /// Looks for the peer's queue pair, unless it is bound.
    void bindIfNeeded() {
        if (peer.peer() == null) {
            bind();
        }
    }

    /// Looks for the peer's queue pair, which may have appeared or become ready.
    void bind() {
        if (adopted) {
            return;
        }
        Peer before = found;
        if (before != null && !before.isAlive()) {
            // Its end is about to be dealt with, for every queue pair that knows that it was its peer.
            peer.unbind();
            return;
        }
        Peer there = isWithinReach() ? context.peers().find(gid, lid) : null;
        found = there;
        if (there == null || !peer.bind(there, number, context.lid(), context.gid(), sendPsn)) {
            peer.unbind();
        }
        if (there == null) {
            call();
        }
    }

    /// Whether the peer may be reached over shared memory; a context always reaches itself.
    private boolean isWithinReach() {
        return context.settings().sharedMemory() || (lid == context.lid() && gid.equals(context.gid()));
    }

    void forget() {
        peer.unbind();
        found = null;
        speaks = false;
        adopted = false;
        hangUp();
    }

    /// A connection manager makes the TCP connection: the peer is not looked for.
    void expectLink() {
        adopted = true;
    }

    // ---- Over TCP ----

    /// Calls the peer, unless that is being done, or was tried just now.
    private void call() {
        long now = System.nanoTime();
        if (!speaks || call != null || asked || queuePair.sends().link() != null || now - nextCall < 0) {
            return;
        }
        asked = true;
        PeerHandshake handshake = new PeerHandshake(
                MpaFrame.Kind.REQUEST,
                PeerHandshake.Verdict.ACCEPTED,
                LinkTerms.FEATURES,
                LinkTerms.LONGEST_SEGMENT,
                ThreadLocalRandom.current().nextLong(),
                PeerHandshake.NO_HOST,
                address(),
                sendPsn,
                receivePsn,
                new QueuePairAddress(gid, lid, number));
        long patience = queuePair.sends().policy().callNanos(now);
        context.engine().execute(() -> context.links().call(queuePair, handshake, patience));
    }

    /// Whether the peer's host has taken a call that the peer has not answered yet. What is lost then, TCP repeats
    /// soon, and the call ends in good time by itself.
    boolean isReached() {
        OutgoingCall current = call;
        return current != null && current.channel().isConnected();
    }

    private QueuePairAddress address() {
        return new QueuePairAddress(context.gid(), context.lid(), queuePair.number());
    }

    /// The call has begun.
    ///
    /// @return false if nobody wants it any more
    boolean calling(OutgoingCall begun) {
        boolean wanted = asked;
        asked = false;
        if (wanted) {
            call = begun;
        }
        return wanted;
    }

    /// The call has ended.
    ///
    /// @return whether it was still wanted
    @SuppressWarnings("ReferenceEquality") // that call, not one like it
    boolean called(OutgoingCall ended) {
        if (call != ended) {
            return false;
        }
        call = null;
        nextCall = System.nanoTime() + CALL_NANOS;
        return true;
    }

    private void hangUp() {
        call = null;
        asked = false;
    }

    /// Decides about a call of a queue pair: it must be the one that this one was connected to, with the same
    /// numbers. When both call each other, the call of the lower address wins.
    PeerHandshake.Verdict consider(PeerHandshake request) {
        QueuePairAddress theirs = new QueuePairAddress(gid, lid, number);
        boolean right = !adopted
                && request.destination().equals(address())
                && request.source().equals(theirs)
                && request.firstPsn() == receivePsn
                && (!speaks || request.expectedPsn() == sendPsn);
        if (!right) {
            return PeerHandshake.Verdict.NOT_THERE;
        }
        if (found != null) {
            return PeerHandshake.Verdict.USE_SHARED_MEMORY;
        }
        boolean calling = call != null || asked;
        if (queuePair.sends().link() != null || (calling && isBefore(address(), theirs))) {
            return PeerHandshake.Verdict.BUSY;
        }
        hangUp();
        return PeerHandshake.Verdict.ACCEPTED;
    }

    private static boolean isBefore(QueuePairAddress one, QueuePairAddress other) {
        int order = Long.compareUnsigned(one.gid().high(), other.gid().high());
        order = order != 0
                ? order
                : Long.compareUnsigned(one.gid().low(), other.gid().low());
        order = order != 0 ? order : Integer.compare(one.lid(), other.lid());
        return (order != 0 ? order : Integer.compare(one.number(), other.number())) < 0;
    }

    /// Whether the peer's expectations, which were unknown when it called, are met.
    boolean isExpected(int expectedPsn) {
        return expectedPsn == sendPsn;
    }

    /// Whether the context that has said hello is the peer's, and was not known yet.
    boolean isAwaiting(Gid itsGid, int itsLid) {
        return found == null && lid == itsLid && gid.equals(itsGid);
    }

    boolean isTo(Peer candidate) {
        return candidate.equals(found);
    }

    /// Waits until the peer's queue pair is not in the middle of an operation that began before.
    ///
    /// @return false if it still is, after a long time
    boolean awaitPeer() {
        Peer now = found;
        if (now != null) {
            try {
                return Executions.await(now.memory(), ControlLayout.queuePair(number), now);
            } catch (IllegalStateException e) {
                // The engine has just unmapped it, because it is dead: nothing is under way there.
                found = null;
            }
        }
        return true;
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
