package io.rdmacomm.cli.process;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/// The command line that starts this program again, with the options of this JVM.
public final class OwnProgram {
    /// By name, because its package refers to all others.
    private static final String MAIN_CLASS = "io.rdmacomm.cli.RdmaCommand";
    private static final String OWN_PROPERTIES = "rdmacomm.";
    private static final List<String> NOT_INHERITED =
            List.of("-agentlib:jdwp", "-Xrunjdwp", "-XX:AOTCacheOutput", "-XX:AOTMode", "-XX:AOTConfiguration");

    private OwnProgram() {}

    /// The words of the command line.
    ///
    /// @param arguments of the program
    public static List<String> command(List<String> arguments) {
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

    /// Uses `-jar` if this process was started that way. Its manifest enables native access; the option that does the
    /// same would make the AOT cache unusable.
    private static List<String> programOptions(String classPath) {
        boolean jar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
        return jar
                ? List.of("-jar", classPath)
                : List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath, MAIN_CLASS);
    }
}
