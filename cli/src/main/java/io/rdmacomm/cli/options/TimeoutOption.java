package io.rdmacomm.cli.options;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// How long a command waits for its peer.
public final class TimeoutOption {
    private static final double MAX_SECONDS = 3600;
    private static final double CLIENT_SECONDS = 5;
    private static final double SERVER_SECONDS = 60;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            description = "How long to wait for the peer at each step (default: 5 for clients, 60 for servers).")
    private @Nullable Double seconds;

    public boolean isGiven() {
        return seconds != null;
    }

    /// The timeout of a client or a server.
    ///
    /// @throws ParameterException if the value is out of range
    public Duration value(boolean server) {
        double value = seconds != null ? seconds : server ? SERVER_SECONDS : CLIENT_SECONDS;
        if (!(value > 0) || value > MAX_SECONDS) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--timeout " + value + " is out of range: it must be above 0, and at most 3600");
        }
        return Duration.ofNanos((long) (value * 1e9));
    }
}
