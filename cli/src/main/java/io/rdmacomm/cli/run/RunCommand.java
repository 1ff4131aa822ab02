package io.rdmacomm.cli.run;

import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.options.DeviceOption;
import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `rdmacomm run`: an unmodified Java program whose sockets of `java.nio` go over RDMA.
@Command(
        name = "run",
        description = {
            "Run a Java program whose NIO sockets go over RDMA, with rsockets of librdmacm on the wire.",
            "The program may be a start script: every JVM that it starts takes part, through JDK_JAVA_OPTIONS."
        },
        footer = {
            "",
            "In the end it says which addresses went over RDMA. The exit code is that of the program.",
            "",
            "Example, for the networks of the RDMA device, and for a test on one machine without any:",
            "  rdmacomm run -- java -jar server.jar",
            "  rdmacomm run --device soft0 --rules :9092 -- bin/kafka-server-start.sh config/server.properties"
        })
public final class RunCommand extends Subcommand {
    private static final String OPTIONS = "JDK_JAVA_OPTIONS";

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
    public Integer call() throws IOException, InterruptedException {
        try {
            var _ = RdmaSelectorProvider.of(device.name(), rules);
        } catch (IllegalArgumentException e) {
            throw usage("" + e.getMessage());
        }
        Path folder = Files.createTempDirectory("rdmacomm-run");
        try {
            return run(folder);
        } finally {
            delete(folder);
        }
    }

    private int run(Path folder) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        String given = System.getenv(OPTIONS);
        List<String> options = new ArrayList<>();
        if (given != null) {
            options.add(given);
        }
        options.add(quoted("-javaagent:" + AgentJar.find(folder)));
        options.add("--enable-native-access=ALL-UNNAMED");
        options.add(quoted("-Dio.rdmacomm.nio.rules=" + rules));
        options.add(quoted("-Dio.rdmacomm.nio.device=" + device.name()));
        options.add(quoted("-Dio.rdmacomm.nio.report=" + folder));
        builder.environment().put(OPTIONS, String.join(" ", options));
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw usage("cannot start '" + command.getFirst() + "': " + e.getMessage());
        }
        int status = process.waitFor();
        if (!quiet) {
            report(folder);
        }
        return status;
    }

    /// The launcher splits its variable at blanks.
    private static String quoted(String option) {
        return "\"" + option + "\"";
    }

    private void report(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
            files = all.filter(file -> file.toString().endsWith(".txt"))
                    .sorted()
                    .toList();
        }
        if (files.isEmpty()) {
            output().complain("no JVM has reported its connections: the program is no Java program, was killed, or its"
                    + " launcher ignores " + OPTIONS);
        }
        for (Path file : files) {
            String process = file.getFileName().toString().replace(".txt", "");
            List<String> lines = Files.readAllLines(file);
            if (lines.isEmpty()) {
                output().complain("process " + process + " opened no NIO socket");
            }
            for (String line : lines) {
                output().complain("process " + process + ": " + line);
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
