package io.rdmacomm.cli.run;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FileName;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The file of the program that `run` starts. This class recognizes the launchers of a JDK. A script may start any
/// Java, which the agent checks.
///
/// @param name how the command line names it
/// @param file the file, without symbolic links
record Program(String name, Path file) {
    /// The Java version of the agent's class files.
    private static final int LEAST_VERSION = 25;

    private static final String LAUNCHER = "java";
    private static final String AGENT_MODULE = "java.instrument";
    private static final byte[] EXECUTABLE = {0x7f, 'E', 'L', 'F'};
    /// The section with the heap of a native image. Section names are at the end of the file.
    private static final String NATIVE_IMAGE = ".svm_heap";

    private static final int LONGEST_END = 1 << 16;

    /// The program that a word of a command line refers to; empty if there is no such file.
    static Optional<Program> find(String name) {
        String path = name.contains("/") ? "" : System.getenv().getOrDefault("PATH", "");
        for (String folder : path.split(File.pathSeparator, -1)) {
            Path file = FileName.path(folder.isEmpty() ? name : folder + "/" + name);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                try {
                    return Optional.of(new Program(name, file.toRealPath()));
                } catch (IOException e) {
                    return Optional.empty();
                }
            }
        }
        return Optional.empty();
    }

    /// Rejects a program that cannot have the agent.
    ///
    /// @throws CommandFailure if it certainly cannot
    void check() throws IOException {
        int version = version();
        if (file.endsWith(LAUNCHER)) {
            if (hasModule("java.base") && !hasModule(AGENT_MODULE)) {
                throw new CommandFailure("'" + name + "' is " + file + ", whose run-time image lacks the module "
                        + AGENT_MODULE + " that agents need: add it with jlink");
            }
            if (version > 0 && version < LEAST_VERSION) {
                throw new CommandFailure(
                        "'" + name + "' is " + file + ", Java " + version + ", and RDMA sockets need Java "
                                + LEAST_VERSION + " or newer: put that first in PATH, or give its path, such as "
                                + Path.of(System.getProperty("java.home"), "bin", LAUNCHER));
            }
        } else if (isExecutable() && version > 0) {
            throw new CommandFailure("'" + name + "' is " + file + ", a program of a JDK that ignores "
                    + LauncherOptions.VARIABLE + ", so its sockets would stay with TCP: start its class or module with"
                    + " java instead, such as java -m jdk.httpserver for jwebserver");
        } else if (isExecutable() && isNativeImage()) {
            throw new CommandFailure("'" + name + "' is " + file + ", a native image: it has no JVM that could take"
                    + " the agent, so its sockets would stay with TCP. Start the program with java instead");
        }
    }

    /// The version of the file's Java image; 0 if there is none.
    private int version() throws IOException {
        String digits = released("JAVA_VERSION").replaceFirst("^1[.]", "").replaceFirst("[^0-9].*", "");
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    /// Whether the file's Java image has a module.
    boolean hasModule(String module) throws IOException {
        return List.of(released("MODULES").split(" ")).contains(module);
    }

    /// A value in the `release` file of the image; empty if there is none.
    private String released(String key) throws IOException {
        Path image = image();
        Path release = image == null ? null : image.resolve("release");
        if (release == null || !Files.isReadable(release)) {
            return "";
        }
        String begin = key + "=\"";
        return Files.readString(release, StandardCharsets.ISO_8859_1)
                .lines()
                .filter(line -> line.startsWith(begin) && line.endsWith("\""))
                .findFirst()
                .map(line -> line.substring(begin.length(), line.length() - 1))
                .orElse("");
    }

    /// The folder above `bin`, or above `jre/bin` in Java 8.
    private @Nullable Path image() {
        Path folder = file.getParent();
        Path image = folder != null && folder.endsWith("bin") ? folder.getParent() : null;
        return image != null && image.endsWith("jre") ? image.getParent() : image;
    }

    private boolean isExecutable() throws IOException {
        try (InputStream content = Files.newInputStream(file)) {
            return Arrays.equals(content.readNBytes(EXECUTABLE.length), EXECUTABLE);
        }
    }

    private boolean isNativeImage() throws IOException {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "r")) {
            byte[] end = new byte[(int) Math.min(LONGEST_END, content.length())];
            content.seek(content.length() - end.length);
            content.readFully(end);
            return new String(end, StandardCharsets.ISO_8859_1).contains(NATIVE_IMAGE);
        }
    }
}
