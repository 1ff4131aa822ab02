package io.rdmacomm.cli.command;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The option for how long a command waits for its peer.
public final class TimeoutOption {
    private static final double CLIENT_SECONDS = 5;
    private static final double SERVER_SECONDS = 60;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            description = "How long to wait for the peer at each step (default: 5 for clients, 60 for servers).")
    @Range(above = true, max = 3600)
    private @Nullable Double seconds;

    public boolean isGiven() {
        return seconds != null;
    }

    /// The timeout of a client or a server.
    public Duration value(boolean server) {
        double value = seconds != null ? seconds : server ? SERVER_SECONDS : CLIENT_SECONDS;
        return Duration.ofNanos((long) (value * 1e9));
    }
}
