package io.rdmacomm.tests.soak;

import org.jspecify.annotations.Nullable;

/// Every request of a send queue that has not ended yet, in order. Requests end in order, each exactly once; an
/// unsignaled one ends with a later one, unless the queue pair has failed.
final class SendLedger {
    /// Is told of each request that has ended.
    interface Listener {
        void ended(long id, boolean success);
    }

    private final long[] ids;
    private final boolean[] signaled;
    private final long[] times;
    private final Listener listener;
    private long posted;
    private long ended;
    private boolean failed;

    SendLedger(int capacity, Listener listener) {
        this.ids = new long[capacity];
        this.signaled = new boolean[capacity];
        this.times = new long[capacity];
        this.listener = listener;
    }

    void posted(long id, boolean hasCompletion) {
        int at = (int) (posted++ % ids.length);
        ids[at] = id;
        signaled[at] = hasCompletion;
        times[at] = System.nanoTime();
    }

    boolean isEmpty() {
        return posted == ended;
    }

    long inFlight() {
        return posted - ended;
    }

    /// How long the request has been in flight; -1 if it is not.
    long age(long id) {
        for (long i = ended; i < posted; i++) {
            if (ids[(int) (i % ids.length)] == id) {
                return System.nanoTime() - times[(int) (i % ids.length)];
            }
        }
        return -1;
    }

    /// Notes a completion.
    ///
    /// @return the rule that it violates, which begins with "lost" or "doubled"; null if it is right
    @Nullable
    String completed(long id, boolean success) {
        if (!contains(id)) {
            return "doubled: a completion of request " + Long.toHexString(id) + ", which is not in flight";
        }
        String wrong = null;
        while (ids[(int) (ended % ids.length)] != id) {
            int at = (int) (ended % ids.length);
            if (signaled[at] || failed) {
                wrong = "lost: request " + Long.toHexString(ids[at]) + " has not ended, but a later one has";
            }
            ended++;
            listener.ended(ids[at], true);
        }
        if (failed && success) {
            wrong = "wrong: request " + Long.toHexString(id) + " succeeded after one before it had failed";
        }
        failed |= !success;
        ended++;
        listener.ended(id, success);
        return wrong;
    }

    private boolean contains(long id) {
        for (long i = ended; i < posted; i++) {
            if (ids[(int) (i % ids.length)] == id) {
                return true;
            }
        }
        return false;
    }
}
