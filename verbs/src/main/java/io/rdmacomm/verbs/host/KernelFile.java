package io.rdmacomm.verbs.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A file in which the kernel tells about itself, such as those of `/proc`.
public final class KernelFile {
    private KernelFile() {}

    /// Its lines; empty if this kernel does not have it, or this process may not read it.
    public static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of();
        }
    }
}
