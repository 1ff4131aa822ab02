package io.rdmacomm.cli.terminal;

import java.io.Serial;

/// A command could not do its work. The message is one line that says what happened and what to do.
public final class CommandFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure that was found here.
    public CommandFailure(String message) {
        super(message);
    }

    /// A failure with what caused it.
    public CommandFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
