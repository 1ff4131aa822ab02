package io.rdmacomm.comm.data;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// One thread starts an operation while another ends the oldest in a full ring, so that the new one takes the slot of
/// the old: the old operation is read before its slot changes. It is in this package because the ring is
/// package-private.
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "there was no room yet")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the slot was free")
@Outcome(expect = Expect.FORBIDDEN, desc = "the new operation overwrote the old one")
@State
public class OperationRingStress {
    private static final int WINDOW = 6;

    private final OperationRing<Object> ring = new OperationRing<>(WINDOW);

    /// Fills all slots: six operations of the user, and the two of the library.
    public OperationRingStress() {
        ring.creditUpdateInFlight(true);
        ring.arrivalReadInFlight(true);
        for (int i = 0; i < OperationRing.slots(WINDOW); i++) {
            ring.add(1, 1, null, 0, 0);
        }
    }

    /// The thread that posts.
    @Actor
    public void start(II_Result result) {
        if (ring.hasRoom(1)) {
            ring.add(2, 2, null, 0, 0);
            result.r1 = 1;
        }
    }

    /// The thread that polls.
    @Actor
    public void end(II_Result result) {
        OperationRing.Entry<Object> oldest = ring.get(ring.oldest());
        result.r2 = (int) oldest.length;
        ring.advance();
    }
}
