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

/// The consumer skips what a dead process claimed while a producer that is alive pushes behind it: the living one's
/// completion arrives, once.
@JCStressTest
@Outcome(
        id = {"0, 1", "1, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "once, early or late")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost behind the dead claim, doubled or torn")
@State
public class SkipClaimsStress {
    private static final int DEAD = 9;

    private final CompletionRing ring = SharedRings.completions(2, false);
    private final MemorySegment room = SharedRings.room();
    private int sum;

    /// The first slot is claimed and never filled.
    public SkipClaimsStress() {
        SharedRings.claim(ring, DEAD);
    }

    /// A producer that is alive.
    @Actor
    public void producer() {
        SharedRings.push(ring, 10);
    }

    /// The consumer.
    @Actor
    public void consumer(II_Result result) {
        ring.skipClaims(DEAD);
        result.r1 = poll();
    }

    /// Polls what is left.
    @Arbiter
    public void end(II_Result result) {
        result.r2 = poll();
        if (sum != 10) {
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
