package io.rdmacomm.ibverbs;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/// The numbers of queue pairs that are being destroyed. The kernel may give such a number to another queue pair
/// before everything here has forgotten the first one.
final class LeavingNumbers {
    private static final long NAP_NANOS = 20_000;

    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();

    /// To be called before a queue pair is destroyed.
    void add(int number) {
        numbers.add(number);
    }

    /// To be called when it is forgotten.
    void remove(int number) {
        numbers.remove(number);
    }

    /// Waits until the queue pair that had this number before is forgotten, which is not long: it is destroyed
    /// already.
    void await(int number) {
        while (numbers.contains(number)) {
            LockSupport.parkNanos(this, NAP_NANOS);
        }
    }
}
