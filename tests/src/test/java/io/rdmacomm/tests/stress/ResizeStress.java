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

/// The consumer replaces the ring while a producer fills it: nothing is lost or doubled, and the order stays.
@JCStressTest
@Outcome(
        id = {"0, 2", "1, 1", "2, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "each once, early or late")
@Outcome(expect = Expect.FORBIDDEN, desc = "a completion is lost, doubled or too early, or the queue overran")
@State
public class ResizeStress {
    private final CompletionRing ring = SharedRings.completions(2, false);
    private final MemorySegment room = SharedRings.room();
    private int sum;

    /// A producer.
    @Actor
    public void producer() {
        SharedRings.push(ring, 10);
        SharedRings.push(ring, 20);
    }

    /// The consumer.
    @Actor
    public void consumer(II_Result result) {
        SharedRings.resize(ring, 4);
        result.r1 = poll();
    }

    /// Polls what is left, which may be in both rings.
    @Arbiter
    public void end(II_Result result) {
        result.r2 = poll();
        if (sum != 30 || ring.isBroken()) {
            result.r2 = -sum;
        }
        ring.free();
    }

    private int poll() {
        int count = ring.poll(room, 0, 2);
        for (int i = 0; i < count; i++) {
            // The second counts in full only after the first.
            int workId = SharedRings.workId(room, i);
            sum += workId == 20 && sum != 10 ? 1 : workId;
        }
        return count;
    }
}
