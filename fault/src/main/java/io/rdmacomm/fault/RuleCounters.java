package io.rdmacomm.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Counts the operations of one queue pair, or the calls of one context, and decides which faults they get. The
/// decisions depend only on the seed and these operations, so that equal runs have equal faults. For one thread at
/// a time.
final class RuleCounters {
    private final List<Counter> counters = new ArrayList<>();

    /// @param queuePair the number of the queue pair, counted from 1 in its context; 0 for calls
    RuleCounters(FaultPlan plan, Rule.Moment moment, int queuePair) {
        for (int i = 0; i < plan.rules().size(); i++) {
            Rule rule = plan.rules().get(i);
            if (rule.moment() == moment && (rule.queuePair() == 0 || rule.queuePair() == queuePair)) {
                counters.add(new Counter(rule, new Random(mix(mix(plan.seed() + i) + queuePair))));
            }
        }
    }

    boolean isEmpty() {
        return counters.isEmpty();
    }

    /// The fault of the next operation: that of the first rule that applies; null if none does. All rules count the
    /// operation.
    @Nullable
    InjectedFault next(@Nullable FaultOperation operation) {
        InjectedFault found = null;
        for (int i = 0; operation != null && i < counters.size(); i++) {
            InjectedFault fault = counters.get(i).next(operation);
            found = found == null ? fault : found;
        }
        return found;
    }

    /// Spreads neighboring seeds (the finalizer of SplitMix64), because [Random] would start with similar values
    /// for them.
    private static long mix(long number) {
        long z = number + 0x9e37_79b9_7f4a_7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d0_49bb_1331_11ebL;
        return z ^ (z >>> 31);
    }

    /// Uses [Random], because its specification defines the numbers for each seed.
    private static final class Counter {
        private final Rule rule;
        private final Random random;
        private long seen;

        Counter(Rule rule, Random random) {
            this.rule = rule;
            this.random = random;
        }

        @Nullable
        InjectedFault next(FaultOperation operation) {
            if (!rule.operation().includes(operation)) {
                return null;
            }
            seen++;
            return rule.when().includes(seen, random) ? rule.fault().drawn(random) : null;
        }
    }
}
