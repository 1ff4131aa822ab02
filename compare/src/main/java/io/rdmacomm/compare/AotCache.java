package io.rdmacomm.compare;

import io.rdmacomm.compare.Programs.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The AOT caches of a server and its client: each JVM writes its own at the end of a run, as those of a user would.
final class AotCache {
    /// A JVM writes its cache after its program has ended.
    private static final Duration WRITE_LIMIT = Duration.ofMinutes(3);

    private final Path folder;
    private final String name;
    private final Training training;
    private boolean made;
    /// Why it was not made; it is not tried again.
    private @Nullable String failure;

    /// A run of both ends that writes the caches.
    @FunctionalInterface
    interface Training {
        /// The commands of both ends.
        ///
        /// @param port that nobody uses
        Pair of(int port, AotCache cache);
    }

    AotCache(Path folder, String name, Training training) {
        this.folder = folder;
        this.name = name;
        this.training = training;
    }

    /// The file of an end, such as `server`.
    Path file(String role) {
        return folder.resolve(name + "-" + role + ".aot");
    }

    /// Makes both once, new for each comparison. Blocks.
    ///
    /// @throws MeasurementException if that fails
    void make() throws IOException, InterruptedException {
        if (failure != null) {
            throw new MeasurementException(failure);
        }
        if (made) {
            return;
        }
        for (String role : Peers.ROLES) {
            Files.deleteIfExists(file(role));
        }
        String output = Programs.run(training.of(Tool.freePort(), this), WRITE_LIMIT);
        for (String role : Peers.ROLES) {
            if (!Files.exists(file(role))) {
                failure = "the JVM wrote no AOT cache " + file(role) + ": " + output.strip();
                throw new MeasurementException(failure);
            }
        }
        made = true;
    }
}
