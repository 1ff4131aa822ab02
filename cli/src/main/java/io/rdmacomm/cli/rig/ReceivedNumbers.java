package io.rdmacomm.cli.rig;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RdmaException;

/// Checks numbers of queue pairs that the peer of a session has sent.
public final class ReceivedNumbers {
    private ReceivedNumbers() {}

    /// Checks that `numbers` lead to the host of `peer`. Does nothing if [SessionOptions#foreignGids()] is set.
    ///
    /// @throws RdmaException if they lead to another host; the message explains how to bind a device
    public static void check(QueuePairInfo numbers, EndPoint peer) {
        if (peer.session().options().foreignGids()) {
            return;
        }
        try {
            peer.session().context().checkNumbers(numbers, peer.remoteAddress());
        } catch (RdmaException e) {
            String option =
                    "-Drdmacomm.soft.devices=soft0=" + peer.remoteAddress().getHostAddress();
            throw new RdmaException(e.getMessage() + " (" + option + ")", e);
        }
    }
}
