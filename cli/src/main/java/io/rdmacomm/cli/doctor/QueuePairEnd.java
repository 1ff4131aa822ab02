package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.rig.VerbsEnd;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/// A queue pair of this process with its completion queue and its memory.
final class QueuePairEnd implements AutoCloseable {
    /// The length of the open memory.
    static final int OPEN_BYTES = 1 << 16;

    /// The number of the first receive; requests have smaller numbers.
    static final long FIRST_RECEIVE = 1L << 32;

    private static final int CLOSED_BYTES = 4096;
    private static final byte UNTOUCHED = 0x5a;
    private static final int FEW = 64;

    private final Context context;
    private final ConnectionOptions how;
    private final EndPlan plan;
    private final VerbsEnd end;
    private final MemoryRegion inbox;
    private final SendBatch sends;
    private final ReceiveBatch receives;
    private final Completions some;
    private long nextReceive = FIRST_RECEIVE;

    QueuePairEnd(Context context, ConnectionOptions how, EndPlan plan) {
        this.context = context;
        this.how = context.fitting(how);
        this.plan = plan;
        Set<AccessFlag> all = EnumSet.of(AccessFlag.LOCAL_WRITE);
        all.addAll(AccessFlag.allRemote());
        this.end = new VerbsEnd(
                context,
                QueuePairType.RELIABLE_CONNECTED,
                new QueueSizes(plan.sends(), plan.receives() + FEW, 1, 1, 0),
                plan.completions(),
                CLOSED_BYTES,
                OPEN_BYTES,
                context.supported(all));
        this.inbox = end.allocate((long) (plan.receives() + FEW) * plan.receiveBytes(), VerbsEnd.MESSAGES);
        closed().segment().fill(UNTOUCHED);
        this.sends = SendBatch.create(end.arena(), 1, 1);
        this.receives = ReceiveBatch.create(end.arena(), 1, 1);
        this.some = Completions.create(end.arena(), FEW);
    }

    Context context() {
        return context;
    }

    ConnectionOptions how() {
        return how;
    }

    QueuePair queuePair() {
        return end.queuePair();
    }

    CompletionQueue completionQueue() {
        return end.completionQueue();
    }

    /// Memory with all rights.
    MemoryRegion open() {
        return end.incoming();
    }

    /// Memory without any right for peers.
    MemoryRegion closed() {
        return end.outgoing();
    }

    QueuePairInfo info() {
        return queuePair().info(how.path());
    }

    /// Whether the closed memory is unchanged.
    boolean isIntact() {
        for (int i = 0; i < CLOSED_BYTES; i++) {
            if (closed().segment().get(ValueLayout.JAVA_BYTE, i) != UNTOUCHED) {
                return false;
            }
        }
        return true;
    }

    /// Connects it by numbers, with the planned receives.
    void connect(QueuePairInfo remote) {
        end.connect(remote, how, this::postReceives);
    }

    /// Posts the planned receives.
    void postReceives() {
        for (int i = 0; i < plan.receives(); i++) {
            receive();
        }
    }

    /// Posts one receive.
    ///
    /// @return its number
    long receive() {
        long id = nextReceive++;
        long slot = (id - FIRST_RECEIVE) % (plan.receives() + FEW);
        receives.clear().receive(id).with(inbox, slot * plan.receiveBytes(), plan.receiveBytes());
        if (queuePair().post(receives) != 1) {
            throw new CheckFailure("room for receive " + (id - FIRST_RECEIVE), "the receive queue is full");
        }
        return id;
    }

    /// The batch for the next request.
    SendBatch request() {
        return sends.clear();
    }

    /// Posts the request.
    ///
    /// @return false if the send queue is full
    boolean tryPost() {
        return queuePair().post(sends) == 1;
    }

    /// Posts the request.
    void post() {
        if (!tryPost()) {
            throw new CheckFailure("room for a request", "the send queue is full");
        }
    }

    /// Collects the statuses of completed work by number, in the order of completion.
    ///
    /// @param enough ends the wait
    /// @param limit ends the wait as well
    Map<Long, WorkStatus> collect(Predicate<Map<Long, WorkStatus>> enough, Duration limit) throws InterruptedException {
        Map<Long, WorkStatus> ends = new LinkedHashMap<>();
        long deadline = System.nanoTime() + limit.toNanos();
        while (!enough.test(ends) && System.nanoTime() - deadline < 0) {
            int count = completionQueue().poll(some);
            for (int i = 0; i < count; i++) {
                // A device without FLUSH_IN_ERROR may flush a READ twice.
                ends.putIfAbsent(some.workId(i), some.status(i));
            }
            if (count == 0) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("the check took too long");
                }
                Thread.onSpinWait();
            }
        }
        return ends;
    }

    /// Closes only the verbs objects, because a thread in a call may still use the batches.
    void shut() {
        end.shut();
    }

    @Override
    public void close() {
        end.close();
    }

    @Override
    public String toString() {
        return queuePair().toString();
    }
}
