package io.rdmacomm.tests.fuzz;

import io.rdmacomm.comm.setup.AgreedVersion;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.Protocol;
import io.rdmacomm.comm.setup.SetupException;
import java.nio.ByteBuffer;

/// The first frame of either side of a session or an exchange, GREETING.
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
        AgreedVersion agreed = agreed(OWN, peer);
        Checks.that(agreed.equals(agreed(peer, OWN)), "the two sides come to different results");
        boolean common = peer.protocol() == OWN.protocol() && peer.lowest() <= 4 && peer.highest() >= 2;
        Checks.that(common == (agreed.version() > 0), "a common version, or none: " + agreed);
        Checks.that((agreed.features() & ~5) == 0, "a feature that is unknown: " + agreed);
    }

    private static AgreedVersion agreed(Greeting one, Greeting other) {
        try {
            return one.agree(other, "peer");
        } catch (SetupException e) {
            return AgreedVersion.NONE;
        }
    }
}
