package io.rdmacomm.cli.options;

import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetUp;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.RetryOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/// Which device a command uses, how its queue pairs connect, and to whom.
public final class DeviceOptions {
    private static final ConnectionOptions DEFAULTS = ConnectionOptions.defaults();
    private static final String CONNECTION_PORT = "--rdma-cm-port";
    private static final List<String> NOT_WITH_CONNECTION_MANAGER =
            List.of("--gid-index", "--mtu", "--sl", "--pkey-index");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Spec
    private CommandSpec ownSpec = CommandSpec.create();

    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Mixin
    private final TrustOptions trust = new TrustOptions();

    @Option(
            names = "--ib-port",
            paramLabel = "N",
            description = "The port of the device (default: 1); --port is a TCP port.")
    private int port = DEFAULTS.path().port();

    @Option(
            names = {"-x", "--gid-index"},
            paramLabel = "N",
            description = "The GID of the port (default: a RoCE v2 GID that matches the TCP address).")
    private int gidIndex = DEFAULTS.path().gidIndex();

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            converter = MtuConverter.class,
            description = "Path MTU, 256 to 4096; the smallest that a side or its port names counts.")
    private @Nullable PathMtu mtu;

    @Option(names = "--sl", paramLabel = "N", description = "Service level, 0 to 15 (default: 0).")
    private int serviceLevel = DEFAULTS.path().serviceLevel();

    @Option(
            names = "--tclass",
            paramLabel = "N",
            description = "Traffic class, 0 to 255 (default: 0; with --rdma-cm, that of the system).")
    private int trafficClass = DEFAULTS.path().trafficClass();

    @Option(
            names = "--pkey-index",
            paramLabel = "N",
            description = "The partition key: its position in the table of the port (default: 0).")
    private int partitionKeyIndex = DEFAULTS.path().partitionKeyIndex();

    @Option(
            names = "--qp-timeout",
            paramLabel = "N",
            description =
                    "Timeout for an acknowledgment: 4.096 us times 2^N, 0 to 31 (default: 14; with --rdma-cm, what the"
                            + " connection manager chooses).")
    private int timeout = DEFAULTS.retries().timeout().code();

    @Option(
            names = "--retry",
            paramLabel = "N",
            description = "Retries without an acknowledgment, 0 to 7 (default: 7).")
    private int retryCount = DEFAULTS.retries().retryCount();

    @Option(
            names = "--rnr-retry",
            paramLabel = "N",
            description = "Retries when the peer has no receive posted, 0 to 6; 7 means unlimited (default: 7).")
    private int rnrRetry = DEFAULTS.retries().rnrRetry();

    @Option(
            names = {"-R", "--rdma-cm"},
            description =
                    "Connect queue pairs through the connection manager (rdma_cm) even if the device works without"
                            + " it; HOST must then be an address of the RDMA device.")
    private boolean connectionManager;

    @Option(
            names = CONNECTION_PORT,
            paramLabel = "PORT",
            description =
                    "For servers behind a firewall or port forward: the port that the connection manager listens on,"
                            + " in addition to --port (default: any free one). For clients: the port to connect to, instead of"
                            + " the one that the server reports. Implies --rdma-cm.")
    private @Nullable Integer connectionPort;

    @Option(
            names = "--set-up-timeout",
            paramLabel = "SECONDS",
            description = "Timeout for each step of setting up a connection, 1 to 3600 (default: 5).")
    private @Nullable Integer setUpSeconds;

    /// The name of the device; empty for the first usable one.
    public String device() {
        return device.name();
    }

    /// How queue pairs connect.
    ///
    /// @throws ParameterException if a number is out of range
    public ConnectionOptions connection() {
        return connection(DEFAULTS.path().mtu());
    }

    /// How queue pairs connect.
    ///
    /// @param defaultMtu the path MTU if none is given
    /// @throws ParameterException if a number is out of range
    public ConnectionOptions connection(PathMtu defaultMtu) {
        check("--ib-port", port, 1, 255);
        check("--gid-index", gidIndex, PathOptions.AUTOMATIC_GID, 255);
        check("--sl", serviceLevel, 0, 15);
        check("--tclass", trafficClass, 0, 255);
        check("--pkey-index", partitionKeyIndex, 0, 65535);
        check("--qp-timeout", timeout, 0, 31);
        check("--retry", retryCount, 0, 7);
        check("--rnr-retry", rnrRetry, 0, 7);
        checkConnectionManager();
        PathOptions path = DEFAULTS.path()
                .withPort(port, gidIndex)
                .withMtu(mtu == null ? defaultMtu : mtu)
                .withQuality(serviceLevel, trafficClass)
                .withPartitionKeyIndex(partitionKeyIndex);
        RetryOptions retries = new RetryOptions(
                new AckTimeout(timeout), retryCount, DEFAULTS.retries().rnrTimer(), rnrRetry);
        return DEFAULTS.withPath(path).withRetries(retries);
    }

    /// Adds the device, the way to connect and the peers that are trusted to `options`.
    ///
    /// @throws ParameterException if a number is out of range, or the file with the secret cannot be used
    public SessionOptions apply(SessionOptions options) {
        Deadlines deadlines = options.deadlines();
        if (setUpSeconds != null) {
            check("--set-up-timeout", setUpSeconds, 1, 3600);
            deadlines = deadlines.withHandshake(Duration.ofSeconds(setUpSeconds));
        }
        return trust.apply(options)
                .withDevice(device.name())
                .withDeadlines(deadlines)
                .withSetUp(connectionManager ? SetUp.CONNECTION_MANAGER : SetUp.AUTOMATIC)
                .withConnectionPort(connectionPort())
                .withChannel(options.channel().withConnection(connection()));
    }

    /// The port of the server's connection manager; 0 if none was given.
    private int connectionPort() {
        if (connectionPort == null) {
            return 0;
        }
        check(CONNECTION_PORT, connectionPort, 1, 65535);
        return connectionPort;
    }

    /// Rejects options that the connection manager decides about itself.
    private void checkConnectionManager() {
        if (!connectionManager && connectionPort == null) {
            return;
        }
        for (String option : NOT_WITH_CONNECTION_MANAGER) {
            if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        spec.commandLine(),
                        option
                                + " has no effect with --rdma-cm: leave one of them out; the connection manager chooses it");
            }
        }
    }

    /// Rejects a port of the connection manager.
    ///
    /// @param reason what it does not fit with
    /// @throws ParameterException if a port was given
    public void rejectConnectionPort(String reason) {
        if (connectionPort != null) {
            throw new ParameterException(
                    spec.commandLine(), CONNECTION_PORT + " has no meaning with " + reason + ": leave it out");
        }
    }

    /// Rejects options about trust.
    ///
    /// @param reason what they do not fit with
    /// @throws ParameterException if one was given
    public void rejectTrust(String reason) {
        trust.reject(reason);
    }

    /// The given options, for another process of this command.
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        for (OptionSpec option : ownSpec.options()) {
            OptionSpec given = spec.commandLine().getParseResult().matchedOption(option.longestName());
            if (given != null) {
                arguments.add(given.longestName());
                if (given.arity().max() > 0) {
                    arguments.addAll(given.originalStringValues());
                }
            }
        }
        return arguments;
    }

    private void check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    spec.commandLine(),
                    option + " " + value + " is out of range: it can be " + Math.max(0, min) + " to " + max);
        }
    }

    /// Reads a path MTU in bytes.
    static final class MtuConverter implements ITypeConverter<PathMtu> {
        /// For picocli.
        MtuConverter() {}

        @Override
        public PathMtu convert(String text) {
            for (PathMtu mtu : PathMtu.values()) {
                if (Integer.toString(mtu.bytes()).equals(text)) {
                    return mtu;
                }
            }
            throw new TypeConversionException("'" + text + "' is not one of 256, 512, 1024, 2048 and 4096");
        }
    }
}
