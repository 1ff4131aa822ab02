package io.rdmacomm.nio;

import io.rdmacomm.nio.channel.AddressRules;
import io.rdmacomm.nio.channel.Decisions;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Makes all sockets of `java.nio` of a JVM use rsockets where the rules say so:
/// `java -javaagent:rdmacomm-nio.jar=RULES`.
///
/// The argument contains rules as for [RdmaSelectorProvider#of], for example `10.1.0.0/16`. Without it, the system
/// property `io.rdmacomm.nio.rules` contains them; its default is `device`: the networks of the RDMA device. If the
/// system property `io.rdmacomm.nio.report` names a folder, the JVM writes a file there at its exit that lists how
/// each address was served. If the property is `-`, it prints that to the standard error.
public final class RdmaAgent {
    /// The decisions of the JVM's provider.
    static final Decisions DECISIONS = new Decisions();

    private static final SafeLogger LOGGER = SafeLogger.of(RdmaAgent.class);
    private static final String REPORT = "io.rdmacomm.nio.report";
    private static final String STANDARD_ERROR = "-";

    /// Whether the command line has already named the agent. The JVM calls [#premain] in one thread.
    private static volatile boolean loaded;

    private static boolean reporting;

    private RdmaAgent() {}

    /// Called by the JVM before the program ([java.lang.instrument]).
    ///
    /// @param rules the rules on the command line; empty or null for those of the system property
    /// @throws IllegalArgumentException if a rule is wrong; the message names it
    /// @throws IllegalStateException if the JVM already has another provider of channels
    public static void premain(@Nullable String rules, Instrumentation instrumentation) {
        String installed = System.getProperty(JdkSockets.PROVIDER);
        if (installed != null && !installed.equals(RdmaSelectorProvider.class.getName())) {
            throw new IllegalStateException("the system property " + JdkSockets.PROVIDER + " is " + installed
                    + "; a JVM has one provider of channels: take out the property or the agent");
        }
        if (rules != null && !rules.isEmpty()) {
            System.setProperty(RdmaSelectorProvider.RULES, rules);
        }
        // If the rules are wrong, the JVM ends here and not at some socket of the program.
        AddressRules parsed = AddressRules.parse(System.getProperty(RdmaSelectorProvider.RULES, AddressRules.DEFAULT));
        if (!reporting) {
            reporting = true;
            report();
        }
        // A program that uses RDMA for no address keeps the channels of the JDK.
        if (!loaded && !parsed.isForNothing()) {
            loaded = true;
            install(instrumentation);
        }
    }

    private static void install(Instrumentation instrumentation) {
        instrumentation.redefineModule(
                Object.class.getModule(),
                Set.of(),
                Map.of(JdkSockets.PACKAGE, Set.of(RdmaAgent.class.getModule())),
                Map.of(JdkSockets.PACKAGE, Set.of(RdmaAgent.class.getModule())),
                Set.of(),
                Map.of());
        System.setProperty(JdkSockets.PROVIDER, RdmaSelectorProvider.class.getName());
        JdkClasses.change(instrumentation);
    }

    private static void report() {
        String report = System.getProperty(REPORT);
        if (report != null) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> report(report)));
        }
    }

    /// Reports how each address was served.
    ///
    /// @param where a folder, in which each JVM writes a file, or [#STANDARD_ERROR]
    private static void report(String where) {
        long process = ProcessHandle.current().pid();
        List<String> lines = DECISIONS.lines();
        try {
            if (where.equals(STANDARD_ERROR)) {
                print(process, lines.isEmpty() ? List.of(withoutDecisions()) : lines);
            } else {
                Files.write(Path.of(where, process + ".txt"), lines);
            }
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.WARNING, "could not write the report of connections", e);
        }
    }

    private static String withoutDecisions() {
        return loaded ? "it opened no NIO socket" : "all its sockets stay with TCP, because the rules name no address";
    }

    /// Does not use `System.err`, which the program may have replaced.
    private static void print(long process, List<String> lines) throws IOException {
        StringBuilder text = new StringBuilder();
        lines.forEach(line -> text.append("rdmacomm run: process ")
                .append(process)
                .append(": ")
                .append(line)
                .append(System.lineSeparator()));
        // Not closed, because the program's own exit hooks may still write to it.
        @SuppressWarnings("resource")
        OutputStream error = new FileOutputStream(FileDescriptor.err);
        error.write(text.toString().getBytes(Charset.defaultCharset()));
    }
}
