package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.command.Excludes;
import io.rdmacomm.cli.command.TimeoutOption;
import io.rdmacomm.cli.interop.PerftestProgram;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The option for the C program that `rdmacomm bench` measures with.
final class PerftestOptions {
    private static final List<String> OF_OUR_OWN_TESTS = List.of(
            "--tests",
            "--all",
            "--duration",
            "--warmup",
            "--qps",
            "--idle-qps",
            "--bidirectional",
            "--no-floors",
            "--no-samples",
            "--matrix",
            "--transport",
            "--csv",
            "--histograms",
            "--rounds",
            "--no-pin",
            "--report",
            "--baseline",
            "--nodes",
            "--rank",
            "--size",
            "--hostfile",
            "--launcher",
            "--arrays",
            "--algorithm",
            "--rdma-cm",
            "--set-up-timeout");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--interop",
            paramLabel = "PROGRAM",
            description = "Measure with a C program of perftest at the other end, in its definitions and with its"
                    + " defaults: ib_send_lat, ib_write_lat, ib_read_lat, ib_atomic_lat or the same with _bw (port"
                    + " 18515). --sizes is its -s, --iterations its -n and --depth its -t.")
    private @Nullable PerftestProgram program;

    @Mixin
    private final TimeoutOption timeout = new TimeoutOption();

    /// The program at the other end; null to measure between two ends of rdmacomm.
    ///
    /// @throws ParameterException if options do not fit together
    @Nullable
    PerftestProgram program() {
        if (program != null) {
            Excludes.check(spec, "--interop, which has the tests and options of perftest", OF_OUR_OWN_TESTS);
        } else if (timeout.isGiven()) {
            throw new ParameterException(spec.commandLine(), "--timeout is an option of --interop");
        }
        return program;
    }

    /// How long to wait for the peer at each step.
    Duration timeout(boolean server) {
        return timeout.value(server);
    }
}
