package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.DriverEvent;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Gives the completions of spoiled requests the status of their rule, and holds completions back.
final class FaultCompletionQueue extends Wrapper<CompletionQueueDriver> implements CompletionQueueDriver {
    private static final long BYTES = CompletionLayout.BYTES;
    private static final int SUCCESS = 0;

    private final OpenDevice device;
    private final @Nullable FaultCompletionChannel channel;
    private final boolean delays;
    private final InjectedFailures failures = new InjectedFailures();
    private final HeldCompletions held = new HeldCompletions();
    /// The unacknowledged events of the real queue; only with a channel.
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private volatile boolean armed;
    private volatile boolean silent;

    /// @param channel the channel that reports held completions; null if there are no events
    FaultCompletionQueue(OpenDevice device, CompletionQueueDriver real, @Nullable FaultCompletionChannel channel) {
        super(real);
        this.device = device;
        this.channel = channel;
        this.delays = device.plan().delaysCompletions();
        if (channel != null) {
            channel.add(this);
        }
    }

    @Override
    public long handle() {
        return real.handle();
    }

    @Override
    public int capacity() {
        return real.capacity();
    }

    /// The spoiled requests whose completions go to this queue.
    InjectedFailures failures() {
        return failures;
    }

    /// The time until a held completion will raise an event; [HeldCompletions#NEVER] if none will.
    long untilDue(long now) {
        long due = held.nextDue();
        return armed && due != HeldCompletions.NEVER ? due - now : HeldCompletions.NEVER;
    }

    /// Notes that an event of this queue is being delivered.
    void delivered() {
        armed = false;
    }

    /// Notes that an event of the real queue is being delivered.
    void realDelivered() {
        unacknowledged.incrementAndGet();
        delivered();
    }

    /// Reports nothing more.
    void silence() {
        silent = true;
    }

    /// Overruns, like the queue of an adapter whose polling does not report it.
    void overrun() {
        if (!silent) {
            silence();
            device.faults().raise(new DriverEvent(AsyncEventType.COMPLETION_QUEUE_ERROR, handle()));
        }
    }

    @Override
    public int poll(MemorySegment into, int max) {
        if (silent) {
            return 0;
        }
        int filled = held.release(into, max);
        boolean more = true;
        while (more && filled < max) {
            int asked = max - filled;
            int count = pollReal(into, filled, asked);
            filled = applyRules(into, filled, count);
            more = count == asked;
        }
        if (armed) {
            recheck();
        }
        // The queue may have become silent after this poll began, and before the posting of a request that has
        // completed since.
        return silent ? 0 : filled;
    }

    /// A broken queue throws, but only after the completions already taken from it are reported.
    private int pollReal(MemorySegment into, int filled, int max) {
        if (filled == 0) {
            return real.poll(into, max);
        }
        try {
            return real.poll(into.asSlice(filled * BYTES), max);
        } catch (VerbException e) {
            return 0;
        }
    }

    /// Removes those of the `count` completions after the first `filled` that are to be held back.
    ///
    /// @return the number of remaining completions, plus `filled`
    private int applyRules(MemorySegment completions, int filled, int count) {
        int left = filled;
        for (int i = filled; i < filled + count; i++) {
            failures.apply(completions, i * BYTES);
            if (!delays || !hold(completions, i * BYTES)) {
                if (left < i) {
                    MemorySegment.copy(completions, i * BYTES, completions, left * BYTES, BYTES);
                }
                left++;
            }
        }
        return left;
    }

    /// Holds back the completion at `at` if a rule says so, or if an earlier one of its queue pair is held.
    private boolean hold(MemorySegment completions, long at) {
        int number = completions.get(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER);
        FaultQueuePair queuePair = device.queuePairs().get((long) number);
        long nanos = 0;
        if (completions.get(JAVA_INT, at + CompletionLayout.STATUS) == SUCCESS && queuePair != null) {
            int opcode = completions.get(JAVA_INT, at + CompletionLayout.OPCODE);
            nanos = queuePair.delayOf(FaultOperation.ofCompletion(CompletionOpcode.of(opcode)));
        }
        if (nanos == 0 && !held.has(number)) {
            return false;
        }
        held.add(number, System.nanoTime() + nanos, completions, at);
        return true;
    }

    /// Tells the waiting thread of the channel that another completion will become due.
    private void recheck() {
        if (channel != null && held.nextDue() != HeldCompletions.NEVER) {
            channel.recheck();
        }
    }

    @Override
    public void arm(boolean solicitedOnly) {
        armed = true;
        real.arm(solicitedOnly);
        recheck();
    }

    /// The real queue does not count the events for held completions.
    @Override
    public void acknowledge(int events) {
        if (channel == null) {
            real.acknowledge(events);
            return;
        }
        int ofReal = unacknowledged.getAndUpdate(left -> Math.max(0, left - events));
        if (ofReal > 0) {
            real.acknowledge(Math.min(ofReal, events));
        }
    }

    @Override
    public void resize(int capacity) {
        real.resize(capacity);
    }

    @Override
    public void moderate(int completions, int micros) {
        real.moderate(completions, micros);
    }

    @Override
    public void close() {
        device.completionQueues().remove(handle());
        if (channel != null) {
            channel.remove(this);
        }
        real.close();
    }
}
