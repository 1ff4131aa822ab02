package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.CommandFailure;

/// The sizes of an end.
///
/// @param sends the requests in flight
/// @param completions the size of the completion queue; 0 for all work that can be in flight
/// @param receives the receives to post before the end is connected
/// @param receiveBytes the length of each receive
record EndPlan(int sends, int completions, int receives, int receiveBytes) {
    private static final int MOST = 1 << 12;

    /// Checks the ranges, because a peer may have sent the values.
    EndPlan {
        check("sends", sends, 1);
        check("completions", completions, 0);
        check("receives", receives, 0);
        check("bytes of a receive", receiveBytes, 1);
    }

    /// 64 sends and 16 receives of 64 bytes.
    static EndPlan usual() {
        return new EndPlan(64, 0, 16, 64);
    }

    /// These sizes with other posted receives.
    EndPlan withReceives(int count, int bytes) {
        return new EndPlan(sends, completions, count, bytes);
    }

    private static void check(String name, int value, int least) {
        if (value < least || value > MOST) {
            throw new CommandFailure(
                    name + " " + value + " of an end is out of range: it can be " + least + " to " + MOST);
        }
    }
}
