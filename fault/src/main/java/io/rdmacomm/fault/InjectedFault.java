package io.rdmacomm.fault;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.WorkStatus;
import java.util.Random;

/// The effect of a rule on an operation.
sealed interface InjectedFault {
    /// The request fails with this status, and later ones on its queue pair are flushed.
    record FailedRequest(WorkStatus status) implements InjectedFault {}

    /// The call throws.
    record FailedCall(Errno errno) implements InjectedFault {}

    /// The completion appears later, or the call takes longer.
    record Delay(long leastNanos, long mostNanos) implements InjectedFault {
        @Override
        public InjectedFault drawn(Random random) {
            long nanos = leastNanos == mostNanos ? leastNanos : random.nextLong(leastNanos, mostNanos + 1);
            return new Delay(nanos, nanos);
        }

        @Override
        public boolean isRandom() {
            return leastNanos != mostNanos;
        }
    }

    /// The request is not accepted, as if the queue were full.
    record FullQueue() implements InjectedFault {}

    /// The link goes down for this time.
    record LinkDown(long nanos) implements InjectedFault {
        static final long FOR_EVER = Long.MAX_VALUE;
    }

    /// The device fails.
    ///
    /// @param silent whether work in flight never ends, instead of being flushed
    record DeviceFatal(boolean silent) implements InjectedFault {}

    /// The completion queue of the request overruns, and reports nothing more.
    record Overrun() implements InjectedFault {}

    /// This fault with its random choices made.
    default InjectedFault drawn(Random random) {
        return this;
    }

    /// Whether it has random choices.
    default boolean isRandom() {
        return false;
    }
}
