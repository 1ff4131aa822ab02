package io.rdmacomm.tests.fuzz;

import io.rdmacomm.comm.setup.EndPointInfo;
import io.rdmacomm.comm.setup.SetupException;
import java.nio.ByteBuffer;

/// The description of an endpoint in the first frames of a session, HELLO and WELCOME.
public final class SessionTarget {
    private SessionTarget() {}

    /// One payload.
    public static void fuzzerTestOneInput(byte[] input) {
        EndPointInfo info;
        try {
            info = EndPointInfo.decode(ByteBuffer.wrap(input), "peer");
        } catch (SetupException e) {
            Checks.that(e.reason() == SetupException.Reason.PROTOCOL_VIOLATED, "another reason: " + e);
            return;
        }
        Checks.that(info.equals(EndPointInfo.decode(info.encode(), "peer")), "it does not come back");
    }
}
