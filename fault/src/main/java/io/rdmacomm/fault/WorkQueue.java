package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import org.jspecify.annotations.Nullable;

/// The send queue or the receive queue of a queue pair: applies the rules to each posted request. A request that
/// must fail is posted spoiled, so that the real queue pair fails it in order and flushes later ones. For one
/// thread at a time.
final class WorkQueue {
    /// Posts to the real queue.
    interface Posting {
        /// As [io.rdmacomm.verbs.spi.QueuePairDriver#postSends].
        int post(RequestChain requests, int first, int count);
    }

    private final OpenDevice device;
    private final QueuePairOwner owner;
    private final FaultCompletionQueue completions;
    private final boolean ofSends;
    private final RuleCounters rules;
    private final Posting real;
    // A request was spoiled: all later requests are flushed, whatever the rules say.
    private boolean failing;

    /// @param moment [Rule.Moment#POST_SEND] or [Rule.Moment#POST_RECEIVE]
    /// @param number the number of its queue pair in rules
    WorkQueue(
            OpenDevice device,
            QueuePairOwner owner,
            CompletionQueueDriver completions,
            Rule.Moment moment,
            int number,
            Posting real) {
        this.device = device;
        this.owner = owner;
        this.completions = device.wrapperOf(completions);
        this.ofSends = moment == Rule.Moment.POST_SEND;
        this.rules = new RuleCounters(device.plan(), moment, number);
        this.real = real;
    }

    /// Clears the failure, after which the queue works again.
    void restart() {
        failing = false;
    }

    /// Posts the requests that the rules admit, as [io.rdmacomm.verbs.spi.QueuePairDriver#postSends] does.
    int post(RequestChain requests, int first, int count) {
        Spoiler spoiler = device.spoiler();
        return spoiler == null ? real.post(requests, first, count) : applyRules(requests, first, count, spoiler);
    }

    private int applyRules(RequestChain requests, int first, int count, Spoiler spoiler) {
        int end = first + count;
        for (int next = first; next < end && !failing && owner.state() != QueuePairState.ERROR; next++) {
            FaultOperation operation = ofSends ? sendAt(requests, next) : FaultOperation.RECEIVE;
            if (operation == null) {
                continue;
            }
            InjectedFault fault = rules.next(operation);
            if (fault instanceof InjectedFault.FullQueue) {
                return next == first ? 0 : postBefore(requests, first, next);
            }
            WorkStatus status = statusOf(fault);
            if (status != WorkStatus.SUCCESS) {
                return postSpoiled(requests, first, count, next, operation, status, spoiler);
            }
        }
        return real.post(requests, first, count);
    }

    private static @Nullable FaultOperation sendAt(RequestChain requests, int index) {
        int opcode = requests.segment().get(JAVA_INT, requests.at(index) + SendRequestLayout.OPCODE);
        return FaultOperation.ofSend(SendOpcode.of(opcode));
    }

    private int postBefore(RequestChain requests, int first, int end) {
        requests.endAfter(end - 1);
        return real.post(requests, first, end - first);
    }

    /// The status with which a request must end. A fault that affects more than the request takes effect now.
    private WorkStatus statusOf(@Nullable InjectedFault fault) {
        switch (fault) {
            case InjectedFault.FailedRequest failure -> {
                return failure.status();
            }
            case InjectedFault.LinkDown down -> device.faults().takeLinkDown(down);
            case InjectedFault.Overrun _ -> completions.overrun();
            case InjectedFault.DeviceFatal fatal -> {
                device.fail(fatal.silent());
                if (ofSends && !fatal.silent()) {
                    // Makes this request fail too. A thread that posts receives cannot do the same, because the
                    // lock of receives comes after that of sends.
                    owner.fail();
                }
            }
            case null, default -> {}
        }
        return ofSends && device.faults().isLinkDown() ? WorkStatus.RETRY_EXCEEDED : WorkStatus.SUCCESS;
    }

    private int postSpoiled(
            RequestChain requests,
            int first,
            int count,
            int index,
            FaultOperation operation,
            WorkStatus status,
            Spoiler spoiler) {
        InjectedFailures failures = completions.failures();
        long workId = requests.segment().get(JAVA_LONG, requests.at(index) + ReceiveRequestLayout.WORK_ID);
        long id = failures.add(workId, status, owner);
        Spoiler.Original original = spoiler.spoil(requests, index, id, operation, isNoticedByPeer(status));
        int taken = 0;
        try {
            taken = real.post(requests, first, count);
            return taken;
        } catch (WorkRequestException e) {
            taken = e.index() - first;
            throw e;
        } finally {
            original.restore();
            failing = taken > index - first;
            if (!failing) {
                failures.remove(id);
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
}
