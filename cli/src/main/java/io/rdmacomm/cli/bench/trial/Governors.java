package io.rdmacomm.cli.bench.trial;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The governors that choose the frequency of the processors. A governor that saves power lowers it while they
/// wait, so figures depend on what ran before.
public final class Governors {
    /// The command that makes the frequency steady.
    public static final String REMEDY = "cpupower frequency-set -g performance";

    private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu");
    private static final String FAST = "performance";

    private Governors() {}

    /// The governors of this machine; empty if the kernel chooses no frequencies, as in most virtual machines.
    public static Optional<String> ofThisMachine() {
        return in(PROCESSORS);
    }

    /// The governors in the kernel's folder.
    public static Optional<String> in(Path processors) {
        try (Stream<Path> folders = Files.list(processors)) {
            String names = folders.filter(
                            folder -> folder.getFileName().toString().matches("cpu[0-9]+"))
                    .map(folder -> folder.resolve("cpufreq/scaling_governor"))
                    .filter(Files::isReadable)
                    .map(Governors::name)
                    .filter(name -> !name.isEmpty())
                    .distinct()
                    .sorted()
                    .collect(Collectors.joining(", "));
            return names.isEmpty() ? Optional.empty() : Optional.of(names);
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static String name(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /// Whether these governors always choose the highest frequency.
    public static boolean areSteady(String governors) {
        return governors.equals(FAST);
    }
}
