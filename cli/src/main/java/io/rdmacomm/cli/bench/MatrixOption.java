package io.rdmacomm.cli.bench;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The option `--matrix` of `rdmacomm bench`.
public final class MatrixOption {
    private static final List<String> MEANINGLESS = List.of(
            "--server",
            "--tests",
            "--sizes",
            "--all",
            "--iterations",
            "--depth",
            "--qps",
            "--idle-qps",
            "--bidirectional",
            "--no-floors",
            "--no-samples",
            "--no-pin",
            "--csv",
            "--report",
            "--baseline",
            "--work-mode",
            "--thread-mode");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--matrix",
            description = "Instead of the tests: round trips of 8 bytes in every work mode and thread mode, and the CPU"
                    + " time of both processes, busy and idle, in percent of a core.")
    private boolean wanted;

    boolean isWanted() {
        return wanted;
    }

    /// Rejects the options that do not fit with `--matrix`.
    ///
    /// @throws ParameterException if one was given with it
    void check() {
        for (String option : MEANINGLESS) {
            if (wanted && spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        spec.commandLine(), option + " has no meaning with --matrix: leave one of them out");
            }
        }
    }
}
