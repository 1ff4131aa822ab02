package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.Range;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The C program that `rdmacomm ping` talks to, and options that only ibv_rc_pingpong(1) and its siblings
/// have.
final class InteropOptions {
    @Option(
            names = "--interop",
            paramLabel = "TOOL",
            description = "Talk to a C program: rc_pingpong or uc_pingpong (ibv_rc_pingpong, ibv_uc_pingpong; TCP port"
                    + " 18515, 1000 messages of 4096 bytes, MTU 1024), ud_pingpong (ibv_ud_pingpong; the same with"
                    + " 2048 bytes, at most the MTU of the port) or rping (port 7174, 5 pings of 64 bytes).")
    private @Nullable InteropTool tool;

    @Option(
            names = "--rx-depth",
            paramLabel = "N",
            defaultValue = "500",
            description = "rc_, uc_ and ud_pingpong: number of posted receives (default: ${DEFAULT-VALUE}).")
    @Range(min = 2, max = 1 << 14)
    private int receives;

    @Option(
            names = "--check",
            description =
                    "rc_, uc_ and ud_pingpong: check the content of every message; the C program needs -c for it.")
    private boolean check;

    /// The program whose protocol is used; null for rdmacomm's own.
    @Nullable
    InteropTool tool() {
        return tool;
    }

    int receives() {
        return receives;
    }

    boolean checksContent() {
        return check;
    }
}
