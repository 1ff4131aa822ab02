package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/// Ends in a completion queue of siw what the driver leaves in the queues of failed queue pairs, and removes what it
/// leaves there of queue pairs that are gone.
///
/// The kernel flushes the queues of a queue pair, which are in user space, when it goes to ERROR and when its TCP
/// connection is closed (`siw_sq_flush`, `siw_rq_flush`). What libsiw puts there afterwards stays for ever: for such a
/// queue `siw_post_send` has nothing to flush, `siw_post_recv` does not even exist for programs, and in ERROR a further
/// change to ERROR does nothing (`siw_qp_modify`).
///
/// Once the change to ERROR has returned, no request begins any more, and what had ended by then is in the
/// completion queue. So when that is empty, whatever else was posted is flushed here; and when the kernel does so
/// after all, because the connection was closed at the same time, its completions are dropped.
///
/// The next queue pair gets the number of the one that was closed last (`siw_qp_add`), so completions that stay
/// behind would be taken for its own.
final class LateFlush {
    private static final Leftovers[] NONE = {};
    private static final int SOME = 64;
    private static final int READ = CompletionOpcode.READ.code();
    private static final int SUCCESS = WorkStatus.SUCCESS.code();

    private final IbvCompletionQueue queue;
    private final OperationLock pollLock = new OperationLock();
    private final SetAside setAside = new SetAside();
    private final AtomicBoolean armed = new AtomicBoolean();
    private volatile Leftovers[] failed = NONE;

    LateFlush(IbvCompletionQueue queue) {
        this.queue = queue;
    }

    /// A queue pair has failed: what it has under way is to be flushed.
    synchronized void add(Leftovers leftovers) {
        remove(leftovers);
        Leftovers[] more = Arrays.copyOf(failed, failed.length + 1);
        more[failed.length] = leftovers;
        failed = more;
    }

    /// A queue pair is gone.
    synchronized void remove(Leftovers leftovers) {
        failed = Arrays.stream(failed).filter(each -> !each.equals(leftovers)).toArray(Leftovers[]::new);
    }

    /// The program waits for an event.
    void arm() {
        armed.set(true);
    }

    /// There is something to flush: sends the event that the program may wait for.
    void announce() {
        if (armed.getAndSet(false)) {
            queue.announce();
        }
    }

    /// Polls for [IbvCompletionQueue#doPoll].
    int poll(MemorySegment into, int max) {
        pollLock.lock();
        try {
            // Looked at before the device: what queue pairs have done until they failed comes first.
            Leftovers[] left = failed;
            int came = setAside.take(into, max);
            int kept = came == 0 ? 0 : keep(into, 0, came);
            while (kept < max) {
                int asked = max - kept;
                came = queue.pollDevice(into, kept, asked);
                if (came > 0) {
                    kept = keep(into, kept, came);
                }
                if (came < asked) {
                    break;
                }
            }
            for (int i = 0; i < left.length && kept < max; i++) {
                kept += left[i].flush(into, kept, max - kept);
            }
            return kept;
        } finally {
            pollLock.unlock();
        }
    }

    /// Removes the completions of a queue pair that was destroyed. What others have there is set aside for
    /// [#poll].
    void forget(int queuePairNumber) {
        pollLock.lock();
        try (Arena arena = Arena.ofConfined()) {
            setAside.remove(queuePairNumber);
            MemorySegment some = arena.allocate((long) SOME * CompletionLayout.BYTES, Long.BYTES);
            int came;
            do {
                came = queue.pollDevice(some, 0, SOME);
                for (int i = 0; i < came; i++) {
                    long at = (long) i * CompletionLayout.BYTES;
                    if (some.get(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER) != queuePairNumber) {
                        setAside.add(some, at);
                    }
                }
            } while (came == SOME);
        } finally {
            pollLock.unlock();
        }
    }

    /// Removes the completions that come too late from those that have come behind the first `kept`.
    private int keep(MemorySegment into, int kept, int came) {
        int end = kept;
        for (int i = kept; i < kept + came; i++) {
            long at = (long) i * CompletionLayout.BYTES;
            if (isNews(into, at)) {
                if (end != i) {
                    MemorySegment.copy(into, at, into, (long) end * CompletionLayout.BYTES, CompletionLayout.BYTES);
                }
                end++;
            }
        }
        return end;
    }

    /// libsiw says what was completed also when it has failed (`copy_cqe`).
    private boolean isNews(MemorySegment into, long at) {
        IbvQueuePair queuePair = queue.queuePair(into.get(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER));
        if (queuePair == null) {
            return true;
        }
        int opcode = into.get(JAVA_INT, at + CompletionLayout.OPCODE);
        if (CompletionOpcode.isReceive(opcode)) {
            OutstandingReceives receives = queuePair.outstandingReceives();
            return receives == null || receives.end();
        }
        OutstandingSends sends = queuePair.outstandingSends();
        if (sends == null) {
            return true;
        }
        boolean read = opcode == READ;
        return into.get(JAVA_INT, at + CompletionLayout.STATUS) == SUCCESS
                ? sends.endWell(read)
                : sends.endBadly(into.get(JAVA_LONG, at + CompletionLayout.WORK_ID), read);
    }
}
