package io.rdmacomm.verbs.statistics;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A file with information from the kernel, such as those of `/proc`.
final class KernelFile {
    private KernelFile() {}

    /// Its lines; empty if this kernel does not have it, or this process may not read it.
    static List<String> lines(Path file) {
        try {
            // A name of a mount or a group may have bytes that are not UTF-8; only it may be lost.
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            return text.isEmpty() ? List.of() : List.of(text.split("\n"));
        } catch (IOException _) {
            return List.of();
        }
    }
}
