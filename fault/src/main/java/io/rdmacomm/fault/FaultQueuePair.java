package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairStateException;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkStatus;
import org.jspecify.annotations.Nullable;

/// Stands for a queue pair: meets each posted request with the rules. A request that is to fail is posted spoiled, so
/// that the real queue pair fails it in its turn and flushes what follows.
final class FaultQueuePair extends QueuePair {
    private final FaultContext context;
    private final QueuePair real;
    private final FaultCompletionQueue sendCompletions;
    private final FaultCompletionQueue receiveCompletions;
    private final @Nullable Spoiler spoiler;
    private final RuleCounters postedSends;
    private final RuleCounters postedReceives;
    private final RuleCounters polledSends;
    private final RuleCounters polledReceives;
    // A request was spoiled: all that is posted from now on is flushed, whatever the rules say.
    private boolean sendsDoomed;
    private boolean receivesDoomed;

    FaultQueuePair(FaultContext context, FaultProtectionDomain domain, QueuePairOptions options, QueuePair real) {
        super(domain, options);
        this.context = context;
        this.real = real;
        this.sendCompletions = (FaultCompletionQueue) options.sendCompletions();
        this.receiveCompletions = (FaultCompletionQueue) options.receiveCompletions();
        this.spoiler = context.spoiler();
        int number = context.nextQueuePair();
        this.postedSends = new RuleCounters(context.plan(), Rule.Moment.POST_SEND, number);
        this.postedReceives = new RuleCounters(context.plan(), Rule.Moment.POST_RECEIVE, number);
        this.polledSends = new RuleCounters(context.plan(), Rule.Moment.POLL_SEND, number);
        this.polledReceives = new RuleCounters(context.plan(), Rule.Moment.POLL_RECEIVE, number);
    }

    QueuePair real() {
        return real;
    }

    /// Takes over what the connection manager has done with the real queue pair.
    void follow() {
        if (isOpen() && real.isOpen()) {
            QueuePairAttributes actual = real.query();
            learned(actual);
            entered(actual.state());
        }
    }

    @Override
    public int number() {
        return real.number();
    }

    @Override
    protected QueueSizes doSizes() {
        QueueSizes actual = real.sizes();
        int allowed = context.plan().restrictions().inlineBytes();
        return actual.withInline(Math.min(allowed, actual.inlineBytes()));
    }

    /// How long a completion is held back, in nanoseconds; its completion queue is being polled.
    long delayOf(@Nullable Operation operation) {
        RuleCounters counters = operation == Operation.RECEIVE ? polledReceives : polledSends;
        return counters.next(operation) instanceof Fault.Delay delay ? delay.mostNanos() : 0;
    }

    /// Takes the real queue pair to the error state, which flushes it. Any thread, without its locks.
    void failReal() {
        try {
            real.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        } catch (QueuePairStateException | IllegalStateException e) {
            return; // closed meanwhile, or it has not been used
        }
        noticeState();
    }

    /// Takes over the state of the real queue pair, which may have failed by itself. Any thread.
    void noticeState() {
        QueuePairState actual = real.state();
        if (isOpen() && (actual == QueuePairState.ERROR || actual == QueuePairState.SEND_QUEUE_ERROR)) {
            entered(actual);
        }
    }

    @Override
    protected void noticeFailure(long workId) {
        noticeState();
    }

    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        Spoiler with = spoiler;
        int taken = with == null ? real.post(batch, first, count) : postSends(batch, first, count, with);
        noticeState();
        return taken;
    }

    private int postSends(SendBatch batch, int first, int count, Spoiler with) {
        int next = first;
        int end = first + count;
        while (next < end && !sendsDoomed && real.state() != QueuePairState.ERROR) {
            Operation operation = operation(batch, next);
            Fault fault = postedSends.next(operation);
            if (fault instanceof Fault.FullQueue) {
                end = next;
                break;
            }
            WorkStatus status = statusOf(fault, sendCompletions);
            if (status == WorkStatus.SUCCESS
                    && operation != null
                    && context.faults().isLinkDown()) {
                status = WorkStatus.RETRY_EXCEEDED;
            }
            if (status != WorkStatus.SUCCESS && operation != null) {
                return postSpoiled(batch, first, end - first, next, operation, status, with);
            }
            next++;
        }
        return end == first ? 0 : real.post(batch, first, end - first);
    }

    private static @Nullable Operation operation(SendBatch batch, int index) {
        int code = batch.segment().get(JAVA_INT, batch.at(index) + SendRequestLayout.OPCODE);
        return Operation.ofSend(SendOpcode.of(code));
    }

    /// Lets a fault of the whole device happen; for others, how the request is to end.
    private WorkStatus statusOf(@Nullable Fault fault, FaultCompletionQueue completions) {
        return switch (fault) {
            case Fault.FailedRequest failure -> failure.status();
            case Fault.LinkDown down -> {
                context.faults().takeLinkDown(down);
                yield WorkStatus.SUCCESS;
            }
            case Fault.DeviceFatal fatal -> {
                context.fail(fatal.silent());
                yield WorkStatus.SUCCESS;
            }
            case Fault.Overrun _ -> {
                completions.overrun();
                yield WorkStatus.SUCCESS;
            }
            case null, default -> WorkStatus.SUCCESS;
        };
    }

    private int postSpoiled(
            SendBatch batch, int first, int count, int index, Operation operation, WorkStatus status, Spoiler with) {
        long at = batch.at(index);
        long workId = batch.segment().get(JAVA_LONG, at + SendRequestLayout.WORK_ID);
        long doomed = sendCompletions.dooms().add(workId, status, this);
        Spoiler.Original original = with.spoilSend(
                batch.segment(), at, batch.elementsAt(index), doomed, operation, isNoticedByPeer(status));
        int taken = 0;
        try {
            taken = real.post(batch, first, count);
            return taken;
        } finally {
            original.restore();
            sendsDoomed = taken > index - first;
            if (!sendsDoomed) {
                sendCompletions.dooms().remove(doomed);
            }
        }
    }

    /// Whether the peer's queue pair fails too when a request ends with this status.
    private static boolean isNoticedByPeer(WorkStatus status) {
        return switch (status) {
            case REMOTE_ACCESS_ERROR, REMOTE_INVALID_REQUEST, REMOTE_OPERATION_ERROR, REMOTE_ABORTED -> true;
            default -> false;
        };
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        Spoiler with = spoiler;
        int taken = with == null ? real.post(batch, first + count) : postReceives(batch, first + count, with);
        noticeState();
        return taken;
    }

    private int postReceives(ReceiveBatch batch, int count, Spoiler with) {
        int next = 0;
        int end = count;
        while (next < end && !receivesDoomed && real.state() != QueuePairState.ERROR) {
            Fault fault = postedReceives.next(Operation.RECEIVE);
            if (fault instanceof Fault.FullQueue) {
                end = next;
                break;
            }
            WorkStatus status = statusOf(fault, receiveCompletions);
            if (status != WorkStatus.SUCCESS) {
                return postSpoiled(batch, end, next, status, with);
            }
            next++;
        }
        return end == 0 ? 0 : real.post(batch, end);
    }

    private int postSpoiled(ReceiveBatch batch, int count, int index, WorkStatus status, Spoiler with) {
        long at = batch.at(index);
        long workId = batch.segment().get(JAVA_LONG, at + SendRequestLayout.WORK_ID);
        long doomed = receiveCompletions.dooms().add(workId, status, this);
        Spoiler.Original original = with.spoilReceive(batch.segment(), at, batch.elementsAt(index), doomed);
        int taken = 0;
        try {
            taken = real.post(batch, count);
            return taken;
        } finally {
            original.restore();
            receivesDoomed = taken > index;
            if (!receivesDoomed) {
                receiveCompletions.dooms().remove(doomed);
            }
        }
    }

    @Override
    protected void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        real.bind(
                workId,
                ((FaultMemoryWindow) window).real(),
                ((FaultMemoryRegion) region).real(),
                offset,
                length,
                AccessFlag.of(access),
                flags);
    }

    @Override
    protected void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        if (from == QueuePairState.INIT && to == QueuePairState.READY_TO_RECEIVE) {
            context.before(Operation.CONNECT);
        }
        context.plan().restrictions().checkAccess("modify queue pair", change.accessFlags());
        real.modify(change);
        if (to == QueuePairState.RESET) {
            sendsDoomed = false;
            receivesDoomed = false;
        } else if (from == QueuePairState.SEND_QUEUE_ERROR && to == QueuePairState.READY_TO_SEND) {
            sendsDoomed = false;
        }
        entered(real.state());
    }

    @Override
    protected QueuePairAttributes doQuery(QueuePairAttributes known) {
        QueuePairAttributes actual = real.query().sizes(known.sizes());
        noticeState();
        return actual;
    }

    @Override
    protected void doAttach(Gid group, int lid) {
        real.attach(group, lid);
    }

    @Override
    protected void doDetach(Gid group, int lid) {
        real.detach(group, lid);
    }

    @Override
    protected void doDestroy() {
        context.forget(real);
        real.close();
    }
}
