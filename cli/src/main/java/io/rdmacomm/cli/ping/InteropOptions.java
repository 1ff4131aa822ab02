package io.rdmacomm.cli.ping;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The C program that `rdmacomm ping` talks to, and options that only ibv_rc_pingpong(1) and its siblings
/// have.
final class InteropOptions {
    private static final int MAX_RECEIVES = 1 << 14;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--interop",
            paramLabel = "TOOL",
            description = "Talk to a C program: rc_pingpong or uc_pingpong (ibv_rc_pingpong, ibv_uc_pingpong; TCP port"
                    + " 18515, 1000 messages of 4096 bytes, MTU 1024), ud_pingpong (ibv_ud_pingpong; the same with"
                    + " 2048 bytes, at most the MTU of the port) or rping (port 7174, 5 pings of 64 bytes).")
    private @Nullable InteropTool tool;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "N",
            defaultValue = "500",
            description = "rc_, uc_ and ud_pingpong: number of posted receives (default: ${DEFAULT-VALUE}).")
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

    /// @throws ParameterException if a number is out of range
    void check() {
        if (receives < 2 || receives > MAX_RECEIVES) {
            throw new ParameterException(
                    spec.commandLine(), "--rx-depth " + receives + " is out of range: it can be 2 to " + MAX_RECEIVES);
        }
    }
}
