package io.rdmacomm.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/// A row of a table that one thread writes and any number of processes read, with a sequence lock: the writer makes
/// the sequence odd, changes the row and makes the sequence even. A reader whose sequence is even, and the same before
/// and after, has read one version of the row. The writer never waits, and readers write nothing.
///
/// ```
/// offset  0  sequence: twice the number of versions; odd while the row is being written
///         8  bid
///        16  ask
/// ```
final class QuoteRow {
    /// A cache line, so that readers of other rows do not wait for this one.
    static final int BYTES = 64;

    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final long SEQUENCE = 0;
    private static final long BID = 8;
    private static final long ASK = 16;
    private static final int SPINS = 1000;
    private static final long MOST_NANOS = 1_000_000_000;

    private final MemorySegment memory;
    private long bid;
    private long ask;

    /// @param memory at an address that is a multiple of 8
    QuoteRow(MemorySegment memory) {
        this.memory = memory;
    }

    /// Changes the row; for the only writer.
    void write(long newBid, long newAsk) {
        long sequence = (long) LONG.getOpaque(memory, SEQUENCE);
        LONG.setOpaque(memory, SEQUENCE, sequence + 1);
        // No store below becomes visible before the one above.
        VarHandle.storeStoreFence();
        LONG.setOpaque(memory, BID, newBid);
        LONG.setOpaque(memory, ASK, newAsk);
        // Release: no store above becomes visible after this one.
        LONG.setRelease(memory, SEQUENCE, sequence + 2);
    }

    /// Reads one version of the row, for [#bid()] and [#ask()]; for one reader per object.
    ///
    /// @return false if the writer has not finished a version within a second: it is stopped, or dead
    boolean read() {
        long begin = 0;
        for (int attempt = 1; !readOnce(); attempt++) {
            if (attempt % SPINS != 0) {
                Thread.onSpinWait();
                continue;
            }
            // The writer may need this processor.
            LockSupport.parkNanos(1);
            long now = System.nanoTime();
            begin = begin == 0 ? now : begin;
            if (now - begin > MOST_NANOS) {
                return false;
            }
        }
        return true;
    }

    private boolean readOnce() {
        long before = (long) LONG.getAcquire(memory, SEQUENCE);
        bid = (long) LONG.getOpaque(memory, BID);
        ask = (long) LONG.getOpaque(memory, ASK);
        // No load above happens after the one below.
        VarHandle.loadLoadFence();
        return (before & 1) == 0 && (long) LONG.getOpaque(memory, SEQUENCE) == before;
    }

    long bid() {
        return bid;
    }

    long ask() {
        return ask;
    }
}
