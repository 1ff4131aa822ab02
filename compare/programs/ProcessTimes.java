import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The processor time of this JVM, of the one that serves, and of its children (proc_pid_stat(5)).
final class ProcessTimes {
    private static final double TICKS = 100;
    /// The 14th and 15th field are the 12th and 13th after the name.
    private static final int USER = 11;
    private static final int SYSTEM = 12;

    private final long server;

    ProcessTimes(long server) {
        this.server = server;
    }

    private List<Path> processes() {
        List<Path> all = new ArrayList<>();
        all.add(Path.of("/proc/self"));
        all.add(Path.of("/proc", Long.toString(server)));
        ProcessHandle.of(server).stream()
                .flatMap(ProcessHandle::descendants)
                .forEach(each -> all.add(Path.of("/proc", Long.toString(each.pid()))));
        return all;
    }

    /// The command of this JVM, without its main class.
    static List<String> thisCommand() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            // `rdmacomm run` has put its own options into the environment, for both JVMs.
            if (!System.getenv().getOrDefault("JDK_JAVA_OPTIONS", "").contains(option)) {
                command.add(option);
            }
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        return command;
    }

    /// The time of all threads, also of those that have ended.
    double processorSeconds() throws IOException {
        double seconds = 0;
        for (Path process : processes()) {
            seconds += seconds(process.resolve("stat"));
        }
        return seconds;
    }

    /// The time of the threads of the JIT compilers.
    double compilerSeconds() throws IOException {
        double seconds = 0;
        for (Path process : processes()) {
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
                for (Path thread : threads) {
                    seconds += compilerSeconds(thread);
                }
            }
        }
        return seconds;
    }

    private static double compilerSeconds(Path thread) throws IOException {
        try {
            return Files.readString(thread.resolve("comm")).contains("CompilerThre") ? seconds(thread.resolve("stat")) : 0;
        } catch (NoSuchFileException e) {
            // The thread has ended meanwhile.
            return 0;
        }
    }

    private static double seconds(Path stat) throws IOException {
        String text = Files.readString(stat);
        // The name in parentheses may contain anything.
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM])) / TICKS;
    }
}
