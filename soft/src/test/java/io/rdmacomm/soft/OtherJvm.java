package io.rdmacomm.soft;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A program of the tests in another JVM, of the same version and with the same classes.
public final class OtherJvm {
    private OtherJvm() {}

    /// To start the program `main`; what it says on standard error is seen.
    ///
    /// @param options for the JVM
    public static ProcessBuilder running(Class<?> main, String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // It is too short for the second compiler of the JVM to gain anything.
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    }
}
