package io.rdmacomm.fault;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Applies the rules to the work posted to a queue pair, and counts its completions.
final class FaultQueuePair extends Wrapper<QueuePairDriver> implements QueuePairDriver {
    private final OpenDevice device;
    private final QueuePairOwner owner;
    private final Restrictions restrictions;
    private final WorkQueue sends;
    private final WorkQueue receives;
    private final RuleCounters polledSends;
    private final RuleCounters polledReceives;

    FaultQueuePair(OpenDevice device, QueuePairRequest request, QueuePairDriver real) {
        super(real);
        this.device = device;
        this.owner = request.owner();
        FaultPlan plan = device.plan();
        this.restrictions = plan.restrictions();
        int number = device.nextQueuePair();
        this.sends =
                new WorkQueue(device, owner, request.sendCompletions(), Rule.Moment.POST_SEND, number, real::postSends);
        this.receives = new WorkQueue(
                device, owner, request.receiveCompletions(), Rule.Moment.POST_RECEIVE, number, real::postReceives);
        this.polledSends = new RuleCounters(plan, Rule.Moment.POLL_SEND, number);
        this.polledReceives = new RuleCounters(plan, Rule.Moment.POLL_RECEIVE, number);
    }

    @Override
    public int number() {
        return real.number();
    }

    @Override
    public QueueSizes sizes() {
        QueueSizes actual = real.sizes();
        return actual.withInline(Math.min(restrictions.inlineBytes(), actual.inlineBytes()));
    }

    @Override
    public int readElements() {
        return real.readElements();
    }

    /// A failing device starts a thread that fails each queue pair.
    @Override
    public boolean hasThreads() {
        return device.plan().failsDevice() || real.hasThreads();
    }

    /// The time for which a completion is held back, in nanoseconds. Called while its completion queue is polled.
    long delayOf(@Nullable FaultOperation operation) {
        RuleCounters counters = operation == FaultOperation.RECEIVE ? polledReceives : polledSends;
        return counters.next(operation) instanceof InjectedFault.Delay delay ? delay.mostNanos() : 0;
    }

    /// Changes it to the error state. On any thread that holds none of its locks.
    void fail() {
        owner.fail();
    }

    @Override
    public int postSends(RequestChain requests, int first, int count) {
        return sends.post(requests, first, count);
    }

    @Override
    public int postReceives(RequestChain requests, int first, int count) {
        return receives.post(requests, first, count);
    }

    @Override
    public @Nullable MemorySegment directView(long address, long length, int key, Arena arena) {
        return real.directView(address, length, key, arena);
    }

    @Override
    public void bind(
            long workId,
            MemoryWindowDriver window,
            MemoryRegionDriver region,
            long address,
            long length,
            int access,
            int flags) {
        real.bind(workId, window, region, address, length, access, flags);
    }

    @Override
    public void modify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        if (!device.managed().contains((long) number())) {
            if (from == QueuePairState.INIT && to == QueuePairState.READY_TO_RECEIVE) {
                device.before(FaultOperation.CONNECT);
            }
            restrictions.checkAccess("modify queue pair", change.accessFlags());
        }
        real.modify(from, to, change, effective);
        if (to == QueuePairState.RESET) {
            sends.restart();
            receives.restart();
        } else if (from == QueuePairState.SEND_QUEUE_ERROR && to == QueuePairState.READY_TO_SEND) {
            sends.restart();
        }
    }

    @Override
    public QueuePairAttributes query(QueuePairAttributes known) {
        QueueSizes sizes = known.sizes();
        return real.query(known).sizes(sizes);
    }

    @Override
    public void attach(Gid group, int lid) {
        real.attach(group, lid);
    }

    @Override
    public void detach(Gid group, int lid) {
        real.detach(group, lid);
    }

    @Override
    public void failurePolled(long workId) {
        real.failurePolled(workId);
    }

    @Override
    public void bindingPolled(long workId) {
        real.bindingPolled(workId);
    }

    @Override
    public void close() {
        device.queuePairs().remove((long) number());
        real.close();
    }
}
