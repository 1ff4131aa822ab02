package io.rdmacomm.soft.roce;

import java.util.Arrays;

/// The results of the peer's last atomic operations. A retransmitted one must not be executed again, and is
/// answered from here (IBTA 9.4.5). Under the queue pair's send lock.
final class AtomicHistory {
    private static final int NONE = -1;

    private final int[] psns;
    private final long[] originals;
    private int newest;

    /// @param size how many READs and atomic operations of the peer may be in flight
    AtomicHistory(int size) {
        psns = new int[size];
        originals = new long[size];
        Arrays.fill(psns, NONE);
    }

    void add(int psn, long original) {
        // The numbers may have wrapped around to one that is present.
        int index = find(psn);
        if (index == NONE) {
            newest = (newest + 1) % psns.length;
            index = newest;
        }
        psns[index] = psn;
        originals[index] = original;
    }

    /// The index of an operation, or -1 if it is not remembered.
    int find(int psn) {
        for (int i = 0; i < psns.length; i++) {
            if (psns[i] == psn) {
                return i;
            }
        }
        return NONE;
    }

    long original(int index) {
        return originals[index];
    }
}
