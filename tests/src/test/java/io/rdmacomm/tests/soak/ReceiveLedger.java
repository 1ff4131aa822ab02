package io.rdmacomm.tests.soak;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Every receive of a queue that has not ended yet, by place. Thread-safe, because queue pairs share some queues.
final class ReceiveLedger {
    /// A receive of a shared queue is used before those that were posted after it; when so many that are newer have
    /// ended for so long, it is lost.
    private static final int ROUNDS = 8;
    private static final long LOST_NANOS = 20_000_000_000L;

    private final long[] ids;
    private final long[] newest;
    private final long[] since;
    private long next;
    private int outstanding;
    private long latest = -1;

    ReceiveLedger(int places) {
        this.ids = new long[places];
        this.newest = new long[places];
        this.since = new long[places];
        Arrays.fill(ids, -1);
    }

    int places() {
        return ids.length;
    }

    /// The id of a receive that is about to be posted into a place: the place is its remainder.
    synchronized long post(int place) {
        long id = next++ * ids.length + place;
        ids[place] = id;
        newest[place] = next;
        since[place] = System.nanoTime();
        outstanding++;
        return id;
    }

    int place(long id) {
        return (int) (id % ids.length);
    }

    /// Notes a completion.
    ///
    /// @return the rule that it violates; null if it is right
    synchronized @Nullable String completed(long id, boolean inOrder) {
        int place = place(id);
        if (ids[place] != id) {
            return "doubled: a completion of receive " + id + ", which is not posted";
        }
        String wrong = inOrder && id / ids.length < latest ? "wrong: receive " + id + " ended out of order" : null;
        latest = Math.max(latest, id / ids.length);
        ids[place] = -1;
        outstanding--;
        return wrong;
    }

    synchronized int outstanding() {
        return outstanding;
    }

    /// A receive that a shared queue has lost; null if there is none.
    synchronized @Nullable String lost() {
        for (int place = 0; place < ids.length; place++) {
            boolean passed = ids[place] >= 0 && latest > newest[place] + (long) ROUNDS * ids.length;
            if (passed && System.nanoTime() - since[place] > LOST_NANOS) {
                ids[place] = -1;
                return "lost: receive in place " + place + " of a shared queue never ends";
            }
        }
        return null;
    }
}
