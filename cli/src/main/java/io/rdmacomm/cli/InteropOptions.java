package io.rdmacomm.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Whether `rdmacomm ping` speaks the protocol of a C program, and what only that of ibv_rc_pingpong(1) has.
final class InteropOptions {
    @Option(
            names = "--interop",
            paramLabel = "TOOL",
            description = "Speak with a C program: rc_pingpong (ibv_rc_pingpong; TCP port 18515, 1000 messages of 4096"
                    + " bytes, MTU 1024) or rping (port 7174, 5 pings of 64 bytes).")
    private @Nullable InteropTool tool;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "N",
            defaultValue = "500",
            description = "rc_pingpong: receives posted at a time (default: ${DEFAULT-VALUE}).")
    private int receives;

    @Option(
            names = "--check",
            description = "rc_pingpong: check the content of each message; the other side needs it as well (its -c).")
    private boolean check;

    /// The program whose protocol is spoken; null for that of rdmacomm itself.
    @Nullable
    InteropTool tool() {
        return tool;
    }

    int receives() {
        return receives;
    }

    boolean check() {
        return check;
    }
}
