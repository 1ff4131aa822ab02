package io.rdmacomm.tests.fuzz;

import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.Protocol;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.Terms;
import java.nio.ByteBuffer;

/// The first frame of either side of a session or a mesh, GREETING.
public final class GreetingTarget {
    private static final Greeting OWN = new Greeting(Protocol.SESSION, 2, 4, 5);

    private GreetingTarget() {}

    /// One payload.
    public static void fuzzerTestOneInput(byte[] input) {
        Greeting peer;
        try {
            peer = Greeting.decode(ByteBuffer.wrap(input), "peer");
        } catch (SetupException e) {
            Checks.that(e.reason() == SetupException.Reason.PROTOCOL_VIOLATED, "another reason: " + e);
            return;
        }
        Checks.that(peer.equals(Greeting.decode(peer.encode(), "peer")), "it does not come back");
        Terms terms = terms(OWN, peer);
        Checks.that(terms.equals(terms(peer, OWN)), "the two sides come to different results");
        boolean common = peer.protocol() == OWN.protocol() && peer.lowest() <= 4 && peer.highest() >= 2;
        Checks.that(common == (terms.version() > 0), "a common version, or none: " + terms);
        Checks.that((terms.features() & ~5) == 0, "a feature that is unknown: " + terms);
    }

    private static Terms terms(Greeting one, Greeting other) {
        try {
            return one.agree(other, "peer");
        } catch (SetupException e) {
            return Terms.NONE;
        }
    }
}
