package io.rdmacomm.cli.command;

import java.io.Serial;

/// A command failed. The message is one line that explains what happened and what to do.
public final class CommandFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure without another cause.
    public CommandFailure(String message) {
        super(message);
    }

    /// A failure with its cause.
    public CommandFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
