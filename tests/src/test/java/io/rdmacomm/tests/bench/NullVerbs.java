package io.rdmacomm.tests.bench;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// A verbs library whose device does nothing, compiled from null_verbs.c with gcc and the headers of libibverbs.
@SuppressWarnings("restricted") // it calls C, like the code that it measures
final class NullVerbs implements AutoCloseable {
    /// The name of its device.
    static final String DEVICE = "null0";

    private final Path folder;
    private final MethodHandle loop;

    NullVerbs() throws IOException, InterruptedException {
        folder = Files.createTempDirectory("rdmacomm-null-verbs");
        Path source = folder.resolve("null_verbs.c");
        Path library = folder.resolve("libnull_verbs.so");
        try (InputStream in = NullVerbs.class.getResourceAsStream("/null_verbs.c")) {
            Files.copy(in, source);
        }
        Process compiler = new ProcessBuilder(
                        "gcc", "-O2", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                .inheritIO()
                .start();
        if (!compiler.waitFor(1, TimeUnit.MINUTES) || compiler.exitValue() != 0) {
            throw new IllegalStateException("gcc failed: install gcc and libibverbs-dev");
        }
        loop = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(library, Arena.global())
                                .find("loop_nanos")
                                .orElseThrow(),
                        FunctionDescriptor.of(JAVA_DOUBLE, JAVA_LONG));
        System.setProperty("rdmacomm.ibverbs.library", library.toString());
    }

    /// Posts and polls in C.
    ///
    /// @return nanoseconds per round
    double loop(long rounds) {
        try {
            return (double) loop.invokeExact(rounds);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
