package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.OwnCompletions;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Two threads push own completions while the consumer replaces the ring: each is polled whole, and once.
@JCStressTest
@Outcome(
        id = {"0, 2", "1, 1", "2, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "each once, early or late")
@Outcome(expect = Expect.FORBIDDEN, desc = "a completion is lost, doubled or torn, or the queue overran")
@State
public class OwnCompletionsStress {
    private final CompletionRing others = SharedRings.completions(2, false);
    private final OwnCompletions own = new OwnCompletions(2, SharedRings.producer(others), () -> {}, () -> {});
    private final MemorySegment room = SharedRings.room();
    private int sum;

    /// A producer.
    @Actor
    public void first() {
        own.push(10, 0, 0, 0, 1, 0);
    }

    /// Another one.
    @Actor
    public void second() {
        own.push(20, 0, 0, 0, 1, 0);
    }

    /// The consumer.
    @Actor
    public void consumer(II_Result result) {
        if (!own.resize(4)) {
            throw new IllegalStateException("two completions fit into two slots");
        }
        result.r1 = poll();
    }

    /// Polls what is left, which may be in both rings.
    @Arbiter
    public void end(II_Result result) {
        result.r2 = poll();
        if (sum != 30 || others.isBroken()) {
            result.r2 = -sum;
        }
        others.free();
    }

    private int poll() {
        int count = own.poll(room, 0, 2);
        for (int i = 0; i < count; i++) {
            sum += SharedRings.workId(room, i);
        }
        return count;
    }
}
