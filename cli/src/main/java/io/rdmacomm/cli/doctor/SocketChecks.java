package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.run.AgentJar;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The checks of `rdmacomm doctor` on sockets over RDMA: which addresses they serve, and why a program might not
/// use them.
final class SocketChecks {
    private static final String SUBJECT = "sockets";
    private static final String OPTIONS = "JDK_JAVA_OPTIONS";
    private static final int FIRST_PORT = 1;
    private static final long FEW_FILES = 4096;
    private static final Path PROCESSES = Path.of("/proc");
    private static final Pattern AGENT =
            Pattern.compile("-javaagent:([^\"\\s=]*rdmacomm[^\"\\s=]*\\.jar)(?:=([^\"\\s]*))?");
    private static final Pattern RULES = Pattern.compile("-Dio\\.rdmacomm\\.nio\\.rules=([^\"\\s]*)");
    private static final String OURS = "io.rdmacomm.nio.";
    private static final String NATIVE_NETTY = "netty_transport_native";
    private static final String SHADED = "io_grpc_netty_shaded_";

    private SocketChecks() {}

    static List<Finding> all() {
        List<Finding> findings = new ArrayList<>();
        findings.add(addresses());
        findings.add(openFiles(MachineChecks.limit("Max open files")));
        String options = System.getenv(OPTIONS);
        if (options != null) {
            findings.addAll(options(options));
        }
        findings.addAll(processes(PROCESSES));
        return findings;
    }

    /// The addresses that the default rule of sockets matches here.
    private static Finding addresses() {
        try (Context context = Rdma.open()) {
            return addresses(context.device().name(), ownAddresses(context));
        } catch (VerbException e) {
            return Finding.fail(SUBJECT, "no device for sockets over RDMA", "see the failures of the devices");
        } catch (IOException e) {
            return Finding.warn(SUBJECT, "the addresses of this host cannot be listed: " + e.getMessage(), "");
        }
    }

    /// @param addresses the device's addresses outside of the loopback interface
    static Finding addresses(String device, List<String> addresses) {
        return addresses.isEmpty()
                ? Finding.warn(
                        SUBJECT,
                        "device " + device
                                + " has no network address, so the rule `device` of RDMA sockets matches none",
                        "name the addresses: " + start(" --rules 127.0.0.0/8", "=127.0.0.0/8"))
                : Finding.ok(
                        SUBJECT,
                        "those to the networks of " + String.join(", ", addresses) + " can go over RDMA (" + device
                                + "): " + start("", ""));
    }

    /// The commands that start a program whose sockets go over RDMA.
    private static String start(String option, String argument) {
        String jar = AgentJar.built().map(Path::toString).orElse(AgentJar.NAME);
        return "rdmacomm run" + option + " -- COMMAND, or java -javaagent:" + word(jar) + argument
                + " --enable-native-access=ALL-UNNAMED";
    }

    /// A word for a shell, which takes all characters between single quotes as they are.
    static String word(String text) {
        return text.matches("[A-Za-z0-9_./+-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }

    private static List<String> ownAddresses(Context context) throws IOException {
        try (Stream<NetworkInterface> interfaces = NetworkInterface.networkInterfaces()) {
            return interfaces
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLoopbackAddress() && context.hasAddress(FIRST_PORT, address))
                    .map(InetAddress::getHostAddress)
                    .toList();
        }
    }

    /// @param limit `unlimited`, a number, or empty if the system does not report it
    static Finding openFiles(String limit) {
        String subject = "open files";
        if (limit.isEmpty() || limit.equals("unlimited")) {
            return Finding.ok(subject, limit.isEmpty() ? "unknown limit" : limit);
        }
        return Long.parseLong(limit) < FEW_FILES
                ? Finding.warn(
                        subject,
                        "limited to " + limit,
                        "a server with many sockets needs more: raise the hard limit (ulimit -Hn, limits.conf: nofile)")
                : Finding.ok(subject, "limited to " + limit);
    }

    /// Mistakes in the options that every JVM of this shell gets.
    static List<Finding> options(String options) {
        List<Finding> findings = new ArrayList<>();
        Matcher agent = AGENT.matcher(options);
        Matcher property = RULES.matcher(options);
        if (agent.find()) {
            if (!Files.isReadable(Path.of(agent.group(1)))) {
                findings.add(Finding.fail(
                        OPTIONS,
                        "the agent " + agent.group(1) + " is not there, so no JVM starts",
                        "correct the path, or unset " + OPTIONS));
            }
            check(agent.group(2), findings);
        }
        if (property.find()) {
            check(property.group(1), findings);
        }
        return findings;
    }

    private static void check(String rules, List<Finding> findings) {
        try (RdmaSelectorProvider _ = RdmaSelectorProvider.of("", rules == null ? "" : rules)) {
            // The rules are correct.
        } catch (IllegalArgumentException e) {
            findings.add(Finding.fail(OPTIONS, "" + e.getMessage(), "correct the rules, or unset " + OPTIONS));
        }
    }

    /// Finds this user's programs that have the agent, but whose sockets do not come from Java.
    ///
    /// @param folder that of proc(5)
    static List<Finding> processes(Path folder) {
        List<Finding> findings = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(folder, "[0-9]*")) {
            for (Path process : processes) {
                String text = text(process.resolve("cmdline")) + "\n" + text(process.resolve("environ"));
                if (AGENT.matcher(text).find() || text.contains(OURS)) {
                    nativeTransports(process, findings);
                }
            }
        } catch (IOException _) {
            // Other processes are not visible.
        }
        return findings;
    }

    private static void nativeTransports(Path process, List<Finding> findings) {
        List<String> libraries = text(process.resolve("maps"))
                .lines()
                .filter(line -> line.contains(NATIVE_NETTY))
                .toList();
        boolean shaded = libraries.stream().anyMatch(line -> line.contains(SHADED));
        boolean plain = libraries.stream().anyMatch(line -> !line.contains(SHADED));
        List<String> flags = new ArrayList<>();
        if (plain) {
            flags.add("-Dio.netty.transport.noNative=true");
        }
        if (shaded) {
            flags.add("-Dio.grpc.netty.shaded.io.netty.transport.noNative=true");
        }
        if (!flags.isEmpty()) {
            findings.add(Finding.warn(
                    "process " + process.getFileName(),
                    "has the agent, but the native transport of Netty, whose sockets stay with TCP",
                    "start it with " + String.join(" ", flags)));
        }
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).replace('\0', '\n');
        } catch (IOException _) {
            return "";
        }
    }
}
