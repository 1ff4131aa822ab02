package io.rdmacomm.cli.command;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/// Starts this program again, with the options of this JVM.
public final class OwnProgram {
    /// A name instead of the class, because its package refers to all others.
    private static final String MAIN_CLASS = "io.rdmacomm.cli.RdmaCommand";
    private static final String OWN_PROPERTIES = "rdmacomm.";
    /// Options with ports that only one JVM can have, for debuggers and management (JMX), or with files that only
    /// one can write.
    private static final List<String> NOT_INHERITED = List.of(
            "-agentlib:jdwp",
            "-Xrunjdwp",
            "-Dcom.sun.management.jmxremote.port=",
            "-Dcom.sun.management.jmxremote.rmi.port=",
            "-Dcom.sun.management.jmxremote.local.port=",
            "-Dcom.sun.management.config.file=",
            "-XX:AOTCacheOutput",
            "-XX:AOTMode",
            "-XX:AOTConfiguration");
    /// Each JVM reads these variables. Their content is already among the options of this JVM.
    private static final List<String> OPTION_VARIABLES =
            List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    private OwnProgram() {}

    /// A builder of the process.
    ///
    /// @param arguments the arguments of the program
    public static ProcessBuilder builder(List<String> arguments) {
        ProcessBuilder builder = new ProcessBuilder(command(arguments));
        OPTION_VARIABLES.forEach(builder.environment()::remove);
        return builder;
    }

    private static List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(javaCommand());
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (NOT_INHERITED.stream().noneMatch(option::startsWith)) {
                command.add(option);
            }
        }
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(OWN_PROPERTIES)) {
                command.add("-D" + name + "=" + System.getProperty(name));
            }
        }
        command.addAll(programOptions(System.getProperty("java.class.path")));
        command.addAll(arguments);
        return command;
    }

    private static String javaCommand() {
        return ProcessHandle.current().info().command().orElseGet(() -> System.getProperty("java.home") + "/bin/java");
    }

    /// Uses `-jar` if this process was started that way. The jar's manifest enables native access; the option for
    /// it would make the AOT cache unusable.
    private static List<String> programOptions(String classPath) {
        boolean jar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
        return jar
                ? List.of("-jar", classPath)
                : List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath, MAIN_CLASS);
    }
}
