package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.CompletionRing;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// The consumer replaces a ring in which a process has died and skips what that one had claimed, while a producer that
/// knows the old ring pushes: nothing of the living is lost or doubled, and the order stays.
@JCStressTest
@Outcome(
        id = {"0, 2", "1, 1", "2, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "each once, early or late")
@Outcome(expect = Expect.FORBIDDEN, desc = "a completion is lost, doubled or too early, or the queue overran")
@State
public class SkipAndResizeStress {
    private static final int DEAD = 9;

    private final CompletionRing ring = SharedRings.completions(4, false);
    private final CompletionProducer producer = ring.producer(SharedRings.LID);
    private final MemorySegment room = SharedRings.room();
    private int sum;

    /// The first slot is claimed and never filled.
    public SkipAndResizeStress() {
        SharedRings.claim(ring, DEAD);
    }

    /// A producer.
    @Actor
    public void producer() {
        SharedRings.push(producer, 10);
        SharedRings.push(producer, 20);
    }

    /// The consumer.
    @Actor
    public void consumer(II_Result result) {
        SharedRings.resize(ring, 8);
        ring.skipClaims(DEAD);
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
