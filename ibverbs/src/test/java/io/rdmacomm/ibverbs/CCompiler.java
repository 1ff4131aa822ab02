package io.rdmacomm.ibverbs;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/// Compiles C with the installed headers of libibverbs and librdmacm. Without gcc or the headers,
/// tests that need them are skipped with a message, or fail if `-Drdma.test.require` names `headers`.
/// `-Drdma.test.compiler='aarch64-linux-gnu-gcc -I/folder'` names another compiler, with options.
final class CCompiler {
    /// The compiler and options of it: another one if this JVM is emulated.
    private static final List<String> COMPILER =
            List.of(System.getProperty("rdma.test.compiler", "gcc").split(" "));

    private static final Path FOLDER = temporaryFolder();
    /// The reason why nothing can be compiled here; empty if there is none.
    private static final String MISSING = missing();

    private CCompiler() {}

    /// Compiles `source` to a program or, with `-shared`, to a library.
    static Path compile(String name, String source, String... options) {
        require();
        Path compiled = FOLDER.resolve(name);
        String complaints = run(name, source, options);
        Assertions.assertTrue(Files.exists(compiled), () -> "gcc: " + complaints);
        return compiled;
    }

    /// The standard output of a program that was compiled here.
    static String output(Path program) {
        return output(new ProcessBuilder(program.toString()));
    }

    private static String output(ProcessBuilder program) {
        try {
            Process process = program.redirectErrorStream(true).start();
            try (var in = process.getInputStream()) {
                return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The standard output of the main method of a class, in another JVM.
    static String java(Class<?> main, String... options) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        String path =
                System.getProperty("java.class.path") + File.pathSeparator + System.getProperty("jdk.module.path", "");
        command.addAll(List.of("-cp", path, main.getName()));
        return output(new ProcessBuilder(command));
    }

    /// Compiles `source`, which checks itself, for aarch64. Skips the caller, or fails, if that is not possible here.
    static void checkOnAarch64(String name, String source) {
        require();
        String compiler = "aarch64-linux-gnu-gcc";
        String[] options = {"-c", "-idirafter", "/usr/include"};
        String complaints = run(List.of(compiler), name + "-probe", "#include <pthread.h>\n", options);
        if (!complaints.isEmpty()) {
            leaveOut(compiler + " is needed (apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross): "
                    + complaints.lines().findFirst().orElseThrow());
        }
        Assertions.assertEquals("", run(List.of(compiler), name, source, options));
    }

    /// Skips the caller, or fails, if nothing can be compiled. Classes that create something before each case and
    /// free it afterwards call this before all cases: JUnit also runs the code that frees after an aborted case.
    static void require() {
        if (!MISSING.isEmpty()) {
            leaveOut(MISSING);
        }
    }

    private static void leaveOut(String reason) {
        if (Arrays.asList(System.getProperty("rdma.test.require", "").split(",", -1))
                .contains("headers")) {
            Assertions.fail(reason);
        }
        Assumptions.abort(reason);
    }

    private static String missing() {
        String complaints = run("probe", "#include <rdma/rdma_cma.h>\nint main(void) { return 0; }\n");
        if (complaints.isEmpty()) {
            return "";
        }
        String reason = "gcc and the headers of libibverbs and librdmacm are needed (apt install gcc librdmacm-dev): "
                + complaints.lines().findFirst().orElseThrow();
        System.out.println("SKIPPED, " + reason);
        return reason;
    }

    private static String run(String name, String source, String... options) {
        return run(COMPILER, name, source, options);
    }

    private static String run(List<String> compiler, String name, String source, String... options) {
        try {
            Path file = Files.writeString(FOLDER.resolve(name + ".c"), source);
            List<String> command = new ArrayList<>(compiler);
            command.addAll(List.of("-O2", "-fPIC", "-Wall"));
            command.addAll(List.of(options));
            command.addAll(List.of("-o", FOLDER.resolve(name).toString(), file.toString()));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String complaints;
            try (var in = process.getInputStream()) {
                complaints = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            }
            return process.waitFor(1, TimeUnit.MINUTES) && process.exitValue() == 0
                    ? ""
                    : complaints + " exit status " + process.exitValue();
        } catch (IOException e) {
            return compiler.getFirst() + " cannot be started: " + e.getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    private static Path temporaryFolder() {
        try {
            Path folder = Files.createTempDirectory("rdmacomm-ibverbs");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path folder) {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            System.out.println("left behind: " + folder + ", " + e.getMessage());
        }
    }
}
