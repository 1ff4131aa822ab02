package io.rdmacomm.cli.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Serial;
import java.nio.file.Files;
import java.nio.file.Path;

/// The standard output of a command cannot be written, because the disk is full or the reader is gone.
public final class LostOutput extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    // S_IFMT, S_IFIFO and S_IFSOCK of inode(7).
    private static final int TYPE = 0xF000;
    private static final int PIPE = 0x1000;
    private static final int SOCKET = 0xC000;

    private LostOutput(String message) {
        super(message);
    }

    /// Flushes `out`, and checks whether it has lost anything.
    ///
    /// @throws LostOutput if it has
    public static void check(PrintWriter out) {
        if (out.checkError()) {
            String reason = out instanceof StandardOutput standard ? standard.reason() : "";
            throw new LostOutput("the standard output cannot be written" + (reason.isEmpty() ? "" : ": " + reason));
        }
    }

    /// Whether the reader is gone, as after `| head`; the user knows that. Tells by the type of the file: pipes and
    /// sockets hardly ever fail for another reason (write(2)), and the text of the reason depends on the system's
    /// language.
    public boolean isClosedPipe() {
        try {
            int type = (int) Files.getAttribute(STANDARD_OUTPUT, "unix:mode") & TYPE;
            return type == PIPE || type == SOCKET;
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
