package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/// The time for which this process may READ memory that a peer lends it. It ends by itself, so the peer can use the
/// memory again, even if this process has stopped or died. Immutable and thread-safe. No method blocks.
///
/// Both sides agree on a term. The holder begins the lease **before** it asks where the memory is, and checks it
/// after each READ:
///
/// ```java
/// Lease lease = Lease.begin(TERM);
/// RemoteBuffer value = ask(key);
/// channel.read(slice, value, 0);
/// lease.check();
/// ```
///
/// The owner lends a [Piece] of a pool as long as it answers such questions. To take it back, it first forgets the
/// piece, so that no further answer names it, and then calls [Piece#releaseAfter(Duration)] with [#grace(Duration)]:
///
/// ```java
/// index.remove(key).releaseAfter(Lease.grace(TERM));
/// ```
///
/// The memory has other content only after that time. By then, each lease on it is over, because it began before the
/// question, and so before the answer and the removal. A READ that ends later may have found other bytes, but its check
/// fails. The memory stays registered, so no late READ ends the connection.
///
/// Both sides measure with [System#nanoTime()], which stands still while a host is suspended. If hosts may be
/// suspended, also put a checksum beside the value.
public final class Lease {
    private static final int MARGIN = 4;
    private static final long LONGEST = Duration.ofHours(1).toMillis();

    private final long begin = System.nanoTime();
    private final Duration term;

    private Lease(Duration term) {
        this.term = term;
    }

    /// A lease that begins now.
    ///
    /// @param term on which both sides have agreed, 1 ms to 1 h
    /// @throws IllegalArgumentException if it is out of its range
    public static Lease begin(Duration term) {
        return new Lease(checked(term));
    }

    /// How long the owner keeps memory unchanged after it has removed it from its answers: a quarter longer than
    /// the term, because the clocks of two hosts may differ in speed while they are adjusted. The default of chrony
    /// is at most a twelfth, at either host (chrony.conf(5), maxslewrate).
    ///
    /// @param term of all leases, 1 ms to 1 h
    /// @throws IllegalArgumentException if it is out of its range
    public static Duration grace(Duration term) {
        return checked(term).plus(term.dividedBy(MARGIN));
    }

    private static Duration checked(Duration term) {
        Bounds.range("term of a lease in milliseconds", term.toMillis(), 1, LONGEST);
        return term;
    }

    /// Whether the memory may have other content now.
    public boolean isOver() {
        return System.nanoTime() - begin >= term.toNanos();
    }

    /// Does nothing if the READs that have ended before this call found the content that was lent.
    ///
    /// @throws LeaseExpiredException if the lease is over
    public void check() {
        if (isOver()) {
            throw new LeaseExpiredException(
                    "the lease of " + term.toMillis() + " ms was over before the READ had ended,"
                            + " so it may have found other content; ask the owner again");
        }
    }

    /// The result of READs, which must have ended while the lease lasted.
    ///
    /// @param reads of [AsyncChannel]
    /// @return fails like `reads`, and with [LeaseExpiredException] if the lease is over when that completes
    public <T> CompletableFuture<T> guard(CompletableFuture<T> reads) {
        return reads.thenApply(result -> {
            check();
            return result;
        });
    }

    @Override
    public String toString() {
        return "lease of " + term.toMillis() + " ms";
    }
}
