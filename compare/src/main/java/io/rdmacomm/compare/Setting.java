package io.rdmacomm.compare;

import io.rdmacomm.cli.command.Placement.Halves;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The settings of all measurements.
///
/// @param command starts rdmacomm
/// @param seconds the time of a measurement
/// @param warmUpSeconds the minimum warm-up of everything that runs on a JVM
/// @param processors for the two ends; empty if the kernel chooses
/// @param jars the class path of programs whose start is measured: an AOT cache takes no folders
record Setting(String command, double seconds, double warmUpSeconds, Optional<Halves> processors, String jars) {
    /// The same with both ends on one processor; empty if the kernel chooses.
    Optional<Setting> onOneProcessor() {
        return processors.map(halves -> {
            String one = halves.first().split(",", 2)[0];
            return new Setting(command, seconds, warmUpSeconds, Optional.of(new Halves(one, one)), jars);
        });
    }

    List<String> placedClient(List<String> program) {
        return processors.map(halves -> placed(halves.first(), program)).orElse(program);
    }

    List<String> placedServer(List<String> program) {
        return processors.map(halves -> placed(halves.second(), program)).orElse(program);
    }

    private static List<String> placed(String list, List<String> program) {
        List<String> words = new ArrayList<>(List.of("taskset", "--cpu-list", list));
        words.addAll(program);
        return words;
    }
}
