package io.rdmacomm.cli.command;

import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.RetryOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/// The options for the device of a command, how its queue pairs connect, and to which peers.
public final class DeviceOptions {
    private static final ConnectionOptions DEFAULTS = ConnectionOptions.defaults();
    private static final int AUTOMATIC_GID = -1;
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
    @Range(min = 1, max = 255)
    private int port = DEFAULTS.path().port();

    @Option(
            names = {"-x", "--gid-index"},
            paramLabel = "N",
            description = "The GID of the port (default: a RoCE v2 GID that matches the TCP address).")
    @Range(max = 255)
    private int gidIndex = AUTOMATIC_GID;

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            converter = MtuConverter.class,
            description = "Path MTU, 256 to 4096; the smallest that a side or its port names counts.")
    private @Nullable PathMtu mtu;

    @Option(names = "--sl", paramLabel = "N", description = "Service level, 0 to 15 (default: 0).")
    @Range(max = 15)
    private int serviceLevel = DEFAULTS.path().serviceLevel();

    @Option(
            names = "--tclass",
            paramLabel = "N",
            description = "Traffic class, 0 to 255 (default: 0; with --rdma-cm, that of the system).")
    @Range(max = 255)
    private int trafficClass = DEFAULTS.path().trafficClass();

    @Option(
            names = "--pkey-index",
            paramLabel = "N",
            description = "The partition key: its position in the table of the port (default: 0).")
    @Range(max = 65535)
    private int partitionKeyIndex = DEFAULTS.path().partitionKeyIndex();

    @Option(
            names = "--qp-timeout",
            paramLabel = "N",
            description =
                    "Timeout for an acknowledgment: 4.096 us times 2^N, 0 to 31 (default: 14; with --rdma-cm, what the"
                            + " connection manager chooses).")
    @Range(max = 31)
    private int timeout = DEFAULTS.retries().timeout().code();

    @Option(
            names = "--retry",
            paramLabel = "N",
            description = "Retries without an acknowledgment, 0 to 7 (default: 7).")
    @Range(max = 7)
    private int retryCount = DEFAULTS.retries().retryCount();

    @Option(
            names = "--rnr-retry",
            paramLabel = "N",
            description = "Retries when the peer has no receive posted, 0 to 6; 7 means unlimited (default: 7).")
    @Range(max = 7)
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
                            + " in addition to --port (default: any free one). For clients: the port to connect to,"
                            + " instead of the one that the server reports. Implies --rdma-cm.")
    @Range(min = 1, max = 65535)
    private @Nullable Integer connectionPort;

    @Option(
            names = "--set-up-timeout",
            paramLabel = "SECONDS",
            description = "Timeout for each step of setting up a connection, 1 to 3600 (default: 5).")
    @Range(min = 1, max = 3600)
    private @Nullable Integer setupSeconds;

    /// The name of the device; empty for the first usable one.
    public String device() {
        return device.name();
    }

    /// Opens the device; see [DeviceOption#open].
    public DeviceChoice open(Capability needed, Supplier<InetAddress> local) {
        return device.open(connection().path().port(), needed, local);
    }

    /// How queue pairs connect.
    ///
    /// @throws ParameterException if options do not fit together
    public ConnectionOptions connection() {
        return connection(DEFAULTS.path().mtu());
    }

    /// How queue pairs connect.
    ///
    /// @param defaultMtu the path MTU if none is given
    /// @throws ParameterException if options do not fit together
    public ConnectionOptions connection(PathMtu defaultMtu) {
        if (connectionManager || connectionPort != null) {
            Excludes.check(spec, "--rdma-cm, which chooses it", NOT_WITH_CONNECTION_MANAGER);
        }
        PathOptions path = DEFAULTS.path()
                .withPort(port)
                .withMtu(mtu == null ? defaultMtu : mtu)
                .withQuality(serviceLevel, trafficClass)
                .withPartitionKeyIndex(partitionKeyIndex);
        RetryOptions retries = DEFAULTS.retries()
                .withTimeout(new AckTimeout(timeout), retryCount)
                .withReceiverNotReady(rnrRetry, DEFAULTS.retries().rnrTimer());
        return DEFAULTS.withPath(gidIndex == AUTOMATIC_GID ? path : path.withGidIndex(gidIndex))
                .withRetries(retries);
    }

    /// How queue pairs connect through an open port, by numbers that the ends exchange. On Ethernet the path has a
    /// GID, which is required there.
    ///
    /// @param local the address of this machine in packets to the peer, which the GID should have
    /// @param defaultMtu the path MTU if none is given
    /// @throws ParameterException if options do not fit together
    public ConnectionOptions connection(DeviceChoice opened, InetAddress local, PathMtu defaultMtu) {
        ConnectionOptions how = connection(defaultMtu);
        PathOptions path = how.path().withPort(opened.port());
        if (path.gidIndex().isEmpty() && opened.context().port(opened.port()).linkLayer() == LinkLayer.ETHERNET) {
            path = path.withGidIndex(opened.context().preferredGidIndex(opened.port(), local));
        }
        return how.withPath(path);
    }

    /// Adds the device, the way to connect and the trusted peers to `options`.
    ///
    /// @throws ParameterException if options do not fit together, or the file with the secret cannot be used
    public SessionOptions apply(SessionOptions options) {
        Deadlines deadlines = options.deadlines();
        if (setupSeconds != null) {
            deadlines = deadlines.withHandshake(Duration.ofSeconds(setupSeconds));
        }
        return trust.apply(options)
                .withDevice(device.name())
                .withDeadlines(deadlines)
                .withSetup(connectionManager ? Setup.CONNECTION_MANAGER : Setup.AUTOMATIC)
                .withConnectionPort(connectionPort == null ? 0 : connectionPort)
                .withChannel(options.channel().withConnection(connection()));
    }

    /// Rejects a port of the connection manager.
    ///
    /// @param with what it cannot be combined with
    /// @throws ParameterException if a port was given
    public void excludeConnectionPort(String with) {
        Excludes.check(spec, with, List.of(CONNECTION_PORT));
    }

    /// Rejects options about trust.
    ///
    /// @param with what they cannot be combined with
    /// @throws ParameterException if one was given
    void excludeTrust(String with) {
        trust.exclude(with);
    }

    /// The given options, for another process of this command.
    public List<String> arguments() {
        return GivenOptions.of(spec, ownSpec);
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
