package io.rdmacomm.fault;

import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The state that the objects of an open device share: the rules, their effects on the whole device, and the
/// objects that these affect. Thread-safe.
final class OpenDevice {
    private final String name;
    private final FaultPlan plan;
    private final @Nullable Spoiler spoiler;
    private final RuleCounters calls;
    private final DeviceFaults faults = new DeviceFaults();
    private final AtomicInteger created = new AtomicInteger();
    private final Map<Long, FaultQueuePair> queuePairs = new ConcurrentHashMap<>();
    private final Map<Long, FaultCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Set<Long> managed = ConcurrentHashMap.newKeySet();

    /// @param spoiler makes requests fail; null if no rule does
    OpenDevice(String name, FaultPlan plan, @Nullable Spoiler spoiler) {
        this.name = name;
        this.plan = plan;
        this.spoiler = spoiler;
        this.calls = new RuleCounters(plan, Rule.Moment.CALL, 0);
    }

    FaultPlan plan() {
        return plan;
    }

    DeviceFaults faults() {
        return faults;
    }

    /// Makes requests fail; null if no rule does.
    @Nullable
    Spoiler spoiler() {
        return spoiler;
    }

    /// The number of a new queue pair in rules, counted from 1.
    int nextQueuePair() {
        return created.incrementAndGet();
    }

    /// The open queue pairs by number.
    Map<Long, FaultQueuePair> queuePairs() {
        return queuePairs;
    }

    /// The open completion queues by handle.
    Map<Long, FaultCompletionQueue> completionQueues() {
        return completionQueues;
    }

    /// The queue that wraps `queue`.
    FaultCompletionQueue wrapperOf(CompletionQueueDriver queue) {
        return Objects.requireNonNull(completionQueues.get(queue.handle()), "it is open");
    }

    /// The numbers of the queue pairs that the connection manager is changing. Rules do not apply to these changes,
    /// because they were applied to the call of the connection manager.
    Set<Long> managed() {
        return managed;
    }

    /// Applies the rules before a call to the real device.
    ///
    /// @throws VerbException if a rule makes the call fail
    void before(FaultOperation operation) {
        faults.checkAlive(operation.text());
        InjectedFault fault;
        synchronized (calls) {
            fault = calls.next(operation);
        }
        if (fault instanceof InjectedFault.FailedCall failure) {
            throw new VerbException(
                    operation.text(), failure.errno(), "a rule in the name of device " + name + " makes it fail");
        }
        if (fault instanceof InjectedFault.Delay delay) {
            pause(delay.mostNanos());
        }
    }

    private static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !Thread.currentThread().isInterrupted(); left = end - System.nanoTime()) {
            LockSupport.parkNanos(left); // for a time, not for a condition
        }
    }

    /// Fails the device: all queue pairs enter the error state, or, if `silent`, no queue reports anything more.
    /// Separate threads fail the queue pairs, because the caller may hold the locks of one.
    void fail(boolean silent) {
        if (!faults.fail()) {
            return;
        }
        if (silent) {
            completionQueues.values().forEach(FaultCompletionQueue::silence);
        } else {
            queuePairs.values().forEach(queuePair -> Thread.startVirtualThread(queuePair::fail));
        }
    }

    /// The name of the device.
    @Override
    public String toString() {
        return name;
    }
}
