package io.rdmacomm.cli.run;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.DeviceOption;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `rdmacomm run`: runs an unmodified Java program whose sockets of `java.nio` go over RDMA.
@Command(
        name = "run",
        description = {
            "Run a Java program whose NIO sockets go over RDMA, with rsockets of librdmacm on the wire.",
            "The program may be a start script: every JVM that it starts takes part, through JDK_JAVA_OPTIONS."
        },
        footer = {
            "",
            "The program takes the place of this command: it gets all signals, and its exit code counts.",
            "In the end each JVM says on the standard error which addresses went over RDMA.",
            "",
            "Example, for the networks of the RDMA device, and for a test on one machine without any:",
            "  rdmacomm run -- java -jar server.jar",
            "  rdmacomm run --device soft0 --rules :9092 -- bin/kafka-server-start.sh config/server.properties"
        })
public final class RunCommand extends Subcommand {
    /// The software device uses it to notice when an idle peer is gone, and to make TCP acknowledge at once.
    private static final String NETWORK_MODULE = "jdk.net";

    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Option(
            names = "--rules",
            paramLabel = "RULES",
            defaultValue = "device",
            description = {
                "Which addresses go over RDMA, separated by commas: device for those on the networks of the device, "
                        + "10.1.0.0/16, 10.1.2.3:9092, :9092, or * for all. "
                        + "A rule that begins with ! excludes; one that begins with ? tries RDMA, and TCP if that "
                        + "fails. The first one that matches decides. "
                        + "All other addresses stay with TCP (default: ${DEFAULT-VALUE})."
            })
    private String rules = "";

    @Option(names = "--quiet", description = "Do not say in the end which addresses went over RDMA.")
    private boolean quiet;

    @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "The program and its arguments, after --.")
    private final List<String> command = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        checkSockets();
        Optional<Program> program = Program.find(command.getFirst());
        if (program.isPresent()) {
            program.get().check();
        }
        LauncherOptions options = options();
        // A modular program has only the modules that it requires.
        if (program.isPresent() && program.get().hasModule(NETWORK_MODULE)) {
            var _ = options.add("--add-modules=" + NETWORK_MODULE);
        }
        Exec.set(LauncherOptions.VARIABLE, options.toString());
        output().out().flush();
        output().err().flush();
        throw usage("cannot start '" + command.getFirst() + "': " + Exec.replace(command));
    }

    /// Finds mistakes early that would otherwise appear at the program's first socket.
    private void checkSockets() {
        try {
            var _ = RdmaSelectorProvider.of(device.name(), rules);
            if (!device.name().isEmpty()) {
                var _ = Rdma.device(device.name());
            }
        } catch (IllegalArgumentException | VerbException e) {
            throw usage("" + e.getMessage());
        }
    }

    private LauncherOptions options() throws IOException {
        String jar = AgentJar.find().toString();
        if (jar.contains("=")) {
            throw new CommandFailure("java takes no agent from a path with an equals sign, such as " + jar
                    + ": install rdmacomm somewhere else");
        }
        String given = Exec.variable(LauncherOptions.VARIABLE);
        LauncherOptions options = new LauncherOptions(given == null ? "" : given)
                .add("-javaagent:" + jar)
                .add("--enable-native-access=ALL-UNNAMED")
                .add("-Dio.rdmacomm.nio.rules=" + rules)
                .add("-Dio.rdmacomm.nio.device=" + device.name());
        return quiet ? options : options.add("-Dio.rdmacomm.nio.report=-");
    }
}
