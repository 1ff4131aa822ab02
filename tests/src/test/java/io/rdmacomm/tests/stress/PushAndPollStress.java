package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.CompletionRing;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Two threads push and one of them polls: both completions arrive once, with their own content.
@JCStressTest
@Outcome(
        id = {"0, 2", "1, 1", "2, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "each once, early or late")
@Outcome(expect = Expect.FORBIDDEN, desc = "a completion is lost, doubled or torn")
@State
public class PushAndPollStress {
    private final CompletionRing ring = SharedRings.completions(2, false);
    private final MemorySegment room = SharedRings.room();
    private int sum;

    /// A producer.
    @Actor
    public void producer() {
        SharedRings.push(ring, 10);
    }

    /// The consumer, whose own request completes as well.
    @Actor
    public void consumer(II_Result result) {
        SharedRings.push(ring, 20);
        result.r1 = poll();
    }

    /// Polls what is left.
    @Arbiter
    public void end(II_Result result) {
        result.r2 = poll();
        if (sum != 30) {
            result.r2 = -sum;
        }
        ring.free();
    }

    private int poll() {
        int count = ring.poll(room, 0, 2);
        for (int i = 0; i < count; i++) {
            sum += SharedRings.workId(room, i);
        }
        return count;
    }
}
