package io.rdmacomm.mesh.collective;

import org.jspecify.annotations.Nullable;

/// The calls of this rank, and whether those of the peers are the same. The calling thread begins calls; the
/// threads that poll compare them with what arrives.
///
/// A notice of a current or earlier call of this rank is compared when it arrives. A notice of a later call is kept
/// by its [ChannelLane], and compared when this rank begins that call. Each thread first writes and then reads what
/// the other writes, so that one of them sees both.
final class CallLog {
    private static final int KEPT = 256;

    private final int rank;
    private final long[] counts = new long[KEPT];
    private final long[] codes = new long[KEPT];
    private volatile long current = -1;
    private volatile @Nullable CollectiveFault fault;

    CallLog(int rank) {
        this.rank = rank;
    }

    /// The rank of this node.
    int rank() {
        return rank;
    }

    /// Begins the next call. For one thread at a time.
    void begin(long count, long code) {
        long next = current + 1;
        counts[index(next)] = count;
        codes[index(next)] = code;
        current = next;
    }

    private static int index(long sequence) {
        return (int) (sequence % KEPT);
    }

    /// The number of the call in progress, or of the last one; -1 before the first.
    long sequence() {
        return current;
    }

    /// The count of that call.
    long count() {
        return counts[index(current)];
    }

    /// The other arguments of that call.
    long code() {
        return codes[index(current)];
    }

    /// The call in progress, or the last one.
    CollectiveCall call() {
        return new CollectiveCall(current, count(), code());
    }

    /// Compares a peer's call with the one of this rank, if this rank knows it. On any thread.
    void compare(int peer, long sequence, long count, long code) {
        long now = current;
        if (sequence < 0 || sequence > now || now - sequence >= KEPT / 2) {
            return;
        }
        long ownCount = counts[index(sequence)];
        long ownCode = codes[index(sequence)];
        if ((ownCount != count || ownCode != code) && current - sequence < KEPT) {
            fail(mismatch(
                    peer, new CollectiveCall(sequence, count, code), new CollectiveCall(sequence, ownCount, ownCode)));
        }
    }

    /// Whether a peer's call is the one in progress.
    boolean isCurrent(long sequence, long count, long code) {
        return sequence == current && count == count() && code == code();
    }

    /// The fault for a notice of another call where one of the call in progress was due.
    CollectiveFault mismatch(int peer, CollectiveCall theirs) {
        return mismatch(peer, theirs, call());
    }

    private CollectiveFault mismatch(int peer, CollectiveCall theirs, CollectiveCall own) {
        return new CollectiveFault(
                CollectiveFault.MISMATCH,
                "ranks " + peer + " and " + rank + " do not call the same collectives: collective " + theirs.sequence()
                        + " of rank " + peer + " is " + theirs + ", collective " + own.sequence() + " of rank " + rank
                        + " is " + own + "; all ranks must make the same calls in the same order");
    }

    /// Ends the collectives; the first reason is kept.
    void fail(CollectiveFault why) {
        synchronized (this) {
            if (fault == null) {
                fault = why;
            }
        }
    }

    /// The reason why the collectives have ended; null if they have not.
    @Nullable
    CollectiveFault fault() {
        return fault;
    }
}
