package io.rdmacomm.cli.terminal;

import java.io.PrintWriter;
import java.io.Serial;

/// The standard output does not take what a command prints: its disk is full, or nobody reads it any more.
public final class LostOutput extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private static final String CLOSED_PIPE = "Broken pipe";

    private LostOutput(String message) {
        super(message);
    }

    /// Flushes `out` and finds out whether it has lost something.
    ///
    /// @throws LostOutput if it has
    public static void check(PrintWriter out) {
        if (out.checkError()) {
            String reason = out instanceof StandardOutput standard ? standard.reason() : "";
            throw new LostOutput("the standard output cannot be written" + (reason.isEmpty() ? "" : ": " + reason));
        }
    }

    /// Whether nobody reads any more, as after `| head`: the user knows.
    public boolean isClosedPipe() {
        return String.valueOf(getMessage()).contains(CLOSED_PIPE);
    }
}
