package io.rdmacomm.cli;

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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/// Which device a command uses, and how its queue pairs connect.
final class DeviceOptions {
    private static final ConnectionOptions DEFAULTS = ConnectionOptions.defaults();
    private static final String CONNECTION_PORT = "--rdma-cm-port";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description = "The RDMA device; the first one that can be used without it. `rdmacomm devices` lists them.")
    private String device = "";

    @Option(
            names = "--ib-port",
            paramLabel = "N",
            description = "The device's port (default: 1). The option --port is about TCP.")
    private int port = DEFAULTS.path().port();

    @Option(
            names = {"-x", "--gid-index"},
            paramLabel = "N",
            description = "The port's GID; without it one of RoCE version 2 that fits the TCP address.")
    private int gidIndex = DEFAULTS.path().gidIndex();

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            converter = MtuConverter.class,
            description = "The largest packet payload, 256 to 4096; lowered to what both ports can take.")
    private @Nullable PathMtu mtu;

    @Option(names = "--sl", paramLabel = "N", description = "The service level, 0 to 15 (default: 0).")
    private int serviceLevel = DEFAULTS.path().serviceLevel();

    @Option(names = "--tclass", paramLabel = "N", description = "The traffic class, 0 to 255 (default: 0).")
    private int trafficClass = DEFAULTS.path().trafficClass();

    @Option(
            names = "--qp-timeout",
            paramLabel = "N",
            description = "Wait 4.096 us times 2 to this power for an acknowledgement, 0 to 31 (default: 14).")
    private int timeout = DEFAULTS.retries().timeout().code();

    @Option(
            names = "--retry",
            paramLabel = "N",
            description = "Repeat what is not acknowledged, 0 to 7 times (default: 7).")
    private int retryCount = DEFAULTS.retries().retryCount();

    @Option(
            names = "--rnr-retry",
            paramLabel = "N",
            description = "Repeat what meets no receive, 0 to 6 times, 7 for ever (default: 7).")
    private int rnrRetry = DEFAULTS.retries().rnrRetry();

    @Option(
            names = {"-R", "--rdma-cm"},
            description = "Connect queue pairs by connection manager (rdma_cm) also where the device can do without;"
                    + " HOST has to be an address of the RDMA device then.")
    private boolean connectionManager;

    @Option(
            names = CONNECTION_PORT,
            paramLabel = "PORT",
            description = "For a server behind a firewall or port forward: the port that its connection manager listens"
                    + " on, beside --port; any free one without it. For a client: connect to this one instead of the"
                    + " one that the server says. Switches --rdma-cm on.")
    private @Nullable Integer connectionPort;

    @Option(
            names = "--set-up-timeout",
            paramLabel = "SECONDS",
            description = "How long each step of setting a connection up may take, 1 to 3600 (default: 5).")
    private @Nullable Integer setUpSeconds;

    /// The name of the device; empty for the first one that can be used.
    String device() {
        return device;
    }

    /// How queue pairs connect.
    ///
    /// @throws ParameterException if a number is out of range
    ConnectionOptions connection() {
        return connection(DEFAULTS.path().mtu());
    }

    /// How queue pairs connect.
    ///
    /// @param otherwise the largest packet payload if none is given
    /// @throws ParameterException if a number is out of range
    ConnectionOptions connection(PathMtu otherwise) {
        check("--ib-port", port, 1, 255);
        check("--gid-index", gidIndex, PathOptions.AUTOMATIC_GID, 255);
        check("--sl", serviceLevel, 0, 15);
        check("--tclass", trafficClass, 0, 255);
        check("--qp-timeout", timeout, 0, 31);
        check("--retry", retryCount, 0, 7);
        check("--rnr-retry", rnrRetry, 0, 7);
        PathOptions path = DEFAULTS.path()
                .withPort(port, gidIndex)
                .withMtu(mtu == null ? otherwise : mtu)
                .withQuality(serviceLevel, trafficClass);
        RetryOptions retries = new RetryOptions(
                new AckTimeout(timeout), retryCount, DEFAULTS.retries().rnrTimer(), rnrRetry);
        return DEFAULTS.withPath(path).withRetries(retries);
    }

    /// `options` with this device and this way to connect.
    SessionOptions apply(SessionOptions options) {
        Deadlines deadlines = options.deadlines();
        if (setUpSeconds != null) {
            check("--set-up-timeout", setUpSeconds, 1, 3600);
            deadlines = deadlines.withHandshake(Duration.ofSeconds(setUpSeconds));
        }
        return options.withDevice(device)
                .withDeadlines(deadlines)
                .withSetUp(connectionManager ? SetUp.CONNECTION_MANAGER : SetUp.AUTOMATIC)
                .withConnectionPort(connectionPort())
                .withChannel(options.channel().withConnection(connection()));
    }

    /// The port of the server's connection manager; 0 if none was said.
    private int connectionPort() {
        if (connectionPort == null) {
            return 0;
        }
        check(CONNECTION_PORT, connectionPort, 1, 65535);
        return connectionPort;
    }

    /// Refuses a port of the connection manager where there is no session that it could be for.
    ///
    /// @param where what is done instead
    /// @throws ParameterException if one was said
    void refuseConnectionPort(String where) {
        if (connectionPort != null) {
            throw new ParameterException(
                    spec.commandLine(), CONNECTION_PORT + " has no meaning with " + where + ": leave it out");
        }
    }

    /// The same options for another process of this command; only what was given.
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        ConnectionOptions how = connection();
        add(arguments, "--device", device, "");
        add(arguments, "--ib-port", port, DEFAULTS.path().port());
        add(arguments, "--gid-index", gidIndex, DEFAULTS.path().gidIndex());
        add(arguments, "--mtu", how.path().mtu().bytes(), DEFAULTS.path().mtu().bytes());
        add(arguments, "--sl", serviceLevel, DEFAULTS.path().serviceLevel());
        add(arguments, "--tclass", trafficClass, DEFAULTS.path().trafficClass());
        add(arguments, "--qp-timeout", timeout, DEFAULTS.retries().timeout().code());
        add(arguments, "--retry", retryCount, DEFAULTS.retries().retryCount());
        add(arguments, "--rnr-retry", rnrRetry, DEFAULTS.retries().rnrRetry());
        if (connectionManager) {
            arguments.add("--rdma-cm");
        }
        if (connectionPort != null) {
            add(arguments, CONNECTION_PORT, connectionPort(), 0);
        }
        if (setUpSeconds != null) {
            add(arguments, "--set-up-timeout", setUpSeconds, 0);
        }
        return arguments;
    }

    private static void add(List<String> arguments, String option, Object value, Object byDefault) {
        if (!value.equals(byDefault)) {
            arguments.add(option);
            arguments.add(value.toString());
        }
    }

    private void check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    spec.commandLine(),
                    option + " " + value + " is out of range: it can be " + Math.max(0, min) + " to " + max);
        }
    }

    /// The payload of a packet in bytes.
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
            throw new TypeConversionException("'" + text + "' is none of 256, 512, 1024, 2048 and 4096");
        }
    }
}
