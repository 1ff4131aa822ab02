package io.rdmacomm.cli.command;

import java.io.Serial;

/// The options of a command do not fit the device or the peer, which only a run of the command can show. The
/// message is one line that explains what does not fit and what to do.
public final class UsageFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with its explanation.
    public UsageFailure(String message) {
        super(message);
    }
}
