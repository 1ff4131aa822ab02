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

/// A consumer arms its queue, polls once more and goes to sleep, while a producer pushes. Either the consumer finds the
/// completion or the producer is told to wake it up.
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "found without a notification")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "found, and notified as well")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "not found, but notified")
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "lost wake-up: the consumer sleeps for good")
@State
public class ArmAndAnnounceStress {
    private final CompletionRing ring = SharedRings.completions(2, true);
    private final MemorySegment room = SharedRings.room();

    /// The producer.
    @Actor
    public void producer(II_Result result) {
        result.r1 = SharedRings.push(ring, 1) > 0 ? 1 : 0;
    }

    /// The consumer.
    @Actor
    public void consumer(II_Result result) {
        ring.arm(false, null);
        result.r2 = ring.poll(room, 0, 1);
    }

    /// Frees the ring.
    @Arbiter
    public void end() {
        ring.free();
    }
}
