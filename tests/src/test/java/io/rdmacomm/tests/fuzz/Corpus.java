package io.rdmacomm.tests.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/// The inputs of a target: a file of text, so that changes can be read.
record Corpus(String target) {
    private static final HexFormat DIGITS = HexFormat.of();

    private Path file() {
        return Path.of(System.getProperty("basedir", ""), "fuzz", target + ".txt");
    }

    List<byte[]> inputs() throws IOException {
        return Files.readAllLines(file()).stream().map(DIGITS::parseHex).toList();
    }

    /// Replaces all inputs.
    void write(Collection<byte[]> inputs) throws IOException {
        Files.write(
                file(),
                inputs.stream()
                        .map(DIGITS::formatHex)
                        .sorted(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()))
                        .toList());
    }
}
