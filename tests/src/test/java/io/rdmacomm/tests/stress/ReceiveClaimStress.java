package io.rdmacomm.tests.stress;

import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// The owner posts a receive and flushes the queue while a peer takes from it: one of them gets the receive, and sees
/// all of it.
@JCStressTest
@Outcome(
        id = {"42, 0", "0, 42"},
        expect = Expect.ACCEPTABLE,
        desc = "one of them has it")
@Outcome(expect = Expect.FORBIDDEN, desc = "neither has it, both have it, or it is not what was posted")
@State
public class ReceiveClaimStress {
    private static final long WORK_ID = 42;
    private static final MemorySegment REQUEST = request();

    private final ReceiveRing ring = SharedRings.receives(1);
    private final ReceiveTaker peer = ring.taker();
    private final long[] taken = new long[1];

    private static MemorySegment request() {
        MemorySegment request = Arena.global().allocate(64, 8);
        request.set(ValueLayout.JAVA_LONG, ReceiveRequestLayout.WORK_ID, WORK_ID);
        request.set(ValueLayout.JAVA_INT, ReceiveRequestLayout.ELEMENT_COUNT, 0);
        return request;
    }

    /// The owner.
    @Actor
    public void owner(II_Result result) {
        ring.post(REQUEST, 0, 0, false);
        result.r1 = ring.take(taken) ? (int) taken[0] : 0;
    }

    /// A peer.
    @Actor
    public void peer(II_Result result) {
        result.r2 = take();
    }

    /// Frees the ring.
    @Arbiter
    public void end() {
        ring.free();
    }

    private int take() {
        long head = peer.head();
        if (head == peer.tail()) {
            return 0;
        }
        long workId = peer.workId(peer.entry(head));
        return peer.take(head) ? (int) workId : 0;
    }
}
