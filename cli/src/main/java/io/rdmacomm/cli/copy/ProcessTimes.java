package io.rdmacomm.cli.copy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The CPU time of this process, which the kernel counts in hundredths of a second.
///
/// @param user seconds in user mode
/// @param system seconds in kernel mode
record ProcessTimes(double user, double system) {
    private static final double TICKS_PER_SECOND = 100;
    private static final int USER_FIELD = 11;

    static ProcessTimes now() {
        try {
            String line = Files.readString(Path.of("/proc/self/stat"));
            // The name of the program is in parentheses and may contain anything, so the fields are counted after it.
            List<String> fields =
                    List.of(line.substring(line.lastIndexOf(')') + 2).split(" ", -1));
            return new ProcessTimes(
                    Long.parseLong(fields.get(USER_FIELD)) / TICKS_PER_SECOND,
                    Long.parseLong(fields.get(USER_FIELD + 1)) / TICKS_PER_SECOND);
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException _) {
            return new ProcessTimes(0, 0);
        }
    }

    ProcessTimes since(ProcessTimes earlier) {
        return new ProcessTimes(user - earlier.user, system - earlier.system);
    }
}
