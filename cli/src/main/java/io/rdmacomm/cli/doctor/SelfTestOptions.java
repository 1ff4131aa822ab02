package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.Excludes;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.Range;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options of `rdmacomm doctor` for the self-test of a device.
final class SelfTestOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--peer",
            paramLabel = "HOST[:PORT]",
            converter = PeerAddress.Converter.class,
            description = "Test the device with that host, where `rdmacomm doctor --serve` runs.")
    private @Nullable PeerAddress peer;

    @Option(
            names = {"--serve", "--server"},
            description = "Be the other host of a self-test, until Ctrl-C.")
    private boolean serve;

    @Option(names = "--until-eof", hidden = true, description = "Exit at the end of standard input.")
    private boolean untilEof;

    @Option(
            names = "--report",
            paramLabel = "NAME",
            description = "Write everything to NAME.txt and NAME.json, which can be attached to an issue.")
    private @Nullable Path report;

    @Option(
            names = "--check-timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "The longest time of one check, 1 to 3600 (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 3600)
    private int seconds;

    /// The other host; null if there is none.
    @Nullable
    PeerAddress peer() {
        return peer;
    }

    boolean isServer() {
        return serve;
    }

    boolean endsWithInput() {
        return untilEof;
    }

    /// The name of the files without their endings; null if none are wanted.
    @Nullable
    Path report() {
        return report;
    }

    Duration limit() {
        return Duration.ofSeconds(seconds);
    }

    /// Checks that the options do not contradict each other or the rest of the command line.
    ///
    /// @param wanted whether there is a self-test
    /// @throws ParameterException if they do
    void check(boolean wanted) {
        if (serve) {
            Excludes.check(spec, "--serve", List.of("--peer", "--json", "--report"));
        }
        if (!wanted && report != null) {
            throw new ParameterException(
                    spec.commandLine(), "--report is an option of the self-test: name a device with --device");
        }
    }
}
