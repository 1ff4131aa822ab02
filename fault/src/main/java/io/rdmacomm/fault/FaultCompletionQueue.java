package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// Stands for a completion queue: gives doomed requests the status of their rule, and holds completions back.
final class FaultCompletionQueue extends CompletionQueue {
    private static final int AT_A_TIME = 64;
    private static final int SUCCESS = 0;

    private final FaultContext context;
    private final CompletionQueue real;
    private final @Nullable FaultCompletionChannel channel;
    private final boolean delays;
    private final Arena arena = Arena.ofShared();
    private final Completions polled = Completions.create(arena, AT_A_TIME);
    private final DoomedRequests dooms = new DoomedRequests();
    private final HeldCompletions held = new HeldCompletions();
    private volatile boolean armed;
    private volatile boolean silent;

    FaultCompletionQueue(FaultContext context, CompletionQueueOptions options, CompletionQueue real) {
        super(context, options);
        this.context = context;
        this.real = real;
        CompletionChannel where = options.channel();
        this.channel = (FaultCompletionChannel) where;
        this.delays = context.plan().delaysCompletions();
        if (delays && channel != null) {
            channel.add(this);
        }
    }

    CompletionQueue real() {
        return real;
    }

    /// The requests that are to fail in it.
    DoomedRequests dooms() {
        return dooms;
    }

    /// How long until a completion that it holds back is to raise an event; [HeldCompletions#NEVER] if none is.
    long untilDue(long now) {
        long due = held.nextDue();
        return armed && due != HeldCompletions.NEVER ? due - now : HeldCompletions.NEVER;
    }

    /// An event of it is being delivered.
    void delivered() {
        armed = false;
    }

    @Override
    public int capacity() {
        return real.capacity();
    }

    /// Reports nothing more.
    void silence() {
        silent = true;
    }

    /// Overruns as on an adapter whose polling does not tell.
    void overrun() {
        if (!silent) {
            silence();
            context.faults().raise(new AsyncEvent(AsyncEventType.COMPLETION_QUEUE_ERROR, this, 0));
        }
    }

    @Override
    protected int doPoll(MemorySegment into, int max) {
        if (silent) {
            return 0;
        }
        int filled = held.release(into, max);
        while (filled < max) {
            int asked = Math.min(max - filled, AT_A_TIME);
            int count = pollReal(asked, filled > 0);
            for (int i = 0; i < count; i++) {
                long at = (long) i * CompletionLayout.BYTES;
                dooms.apply(polled.segment(), at);
                if (!delays || !hold(polled.segment(), at)) {
                    MemorySegment.copy(
                            polled.segment(), at, into, (long) filled * CompletionLayout.BYTES, CompletionLayout.BYTES);
                    filled++;
                }
            }
            if (count < asked) {
                break;
            }
        }
        if (delays && armed) {
            lookAgain();
        }
        // The queue may have fallen silent since this poll began, before the request was posted that completed
        // meanwhile.
        return silent ? 0 : filled;
    }

    /// A broken queue throws, but not before what was taken from it is reported.
    private int pollReal(int max, boolean otherwiseEmpty) {
        try {
            return real.poll(polled, max);
        } catch (VerbException e) {
            if (otherwiseEmpty) {
                return 0;
            }
            throw e;
        }
    }

    /// Holds the completion at `at` back, if a rule says so or an earlier one of its queue pair is held back.
    private boolean hold(MemorySegment completions, long at) {
        int number = completions.get(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER);
        long nanos = 0;
        if (completions.get(JAVA_INT, at + CompletionLayout.STATUS) == SUCCESS
                && context.queuePair(number) instanceof FaultQueuePair queuePair) {
            int opcode = completions.get(JAVA_INT, at + CompletionLayout.OPCODE);
            nanos = queuePair.delayOf(Operation.ofCompletion(CompletionOpcode.of(opcode)));
        }
        if (nanos == 0 && !held.has(number)) {
            return false;
        }
        held.add(number, System.nanoTime() + nanos, completions, at);
        return true;
    }

    /// The waiting thread of the channel does not know yet when the next completion is due.
    private void lookAgain() {
        if (channel != null && held.nextDue() != HeldCompletions.NEVER) {
            channel.lookAgain();
        }
    }

    @Override
    protected void doArm(boolean solicitedOnly) {
        armed = true;
        real.arm(solicitedOnly);
        lookAgain();
    }

    @Override
    protected void doAcknowledge(int events) {
        // The channel acknowledges the events of the real queue when it delivers them.
    }

    @Override
    protected void doResize(int capacity) {
        real.resize(capacity);
    }

    @Override
    protected void doModerate(int completions, int micros) {
        real.moderate(completions, Duration.of(micros, ChronoUnit.MICROS));
    }

    @Override
    protected void doDestroy() {
        context.forget(real);
        if (channel != null) {
            channel.remove(this);
        }
        real.close();
        arena.close();
    }
}
