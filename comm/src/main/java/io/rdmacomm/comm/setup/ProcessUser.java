package io.rdmacomm.comm.setup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// The user of a process and its groups, as numbers.
///
/// @param user its effective user
/// @param groups its effective group and its supplementary ones
record ProcessUser(long user, Set<Long> groups) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final long ROOT = 0;
    /// Of the real, effective, saved and file system number (proc_pid_status(5)).
    private static final int EFFECTIVE = 1;

    /// Those of this process. Blocks.
    ///
    /// @throws IOException if the system does not report it, because it is not Linux
    static ProcessUser current() throws IOException {
        return parse(Files.readAllLines(STATUS));
    }

    /// Those in the lines of a file `/proc/PID/status`.
    ///
    /// @throws IOException if a line is missing, or is not as expected
    static ProcessUser parse(List<String> status) throws IOException {
        try {
            Set<Long> groups = new TreeSet<>(numbers(status, "Groups:"));
            groups.add(numbers(status, "Gid:").get(EFFECTIVE));
            return new ProcessUser(numbers(status, "Uid:").get(EFFECTIVE), groups);
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw new IOException(STATUS + " names no user and groups", e);
        }
    }

    private static List<Long> numbers(List<String> status, String name) {
        List<Long> numbers = new ArrayList<>();
        for (String line : status) {
            if (line.startsWith(name)) {
                for (String word : line.substring(name.length()).strip().split("\\s+", 0)) {
                    if (!word.isEmpty()) {
                        numbers.add(Long.valueOf(word));
                    }
                }
            }
        }
        return numbers;
    }

    /// Whether this user can read a file of another owner only because of its group. The owner and root could
    /// remove the group's rights, so for them such rights are a mistake.
    boolean needsGroup(long owner, long group) {
        return user != ROOT && user != owner && groups.contains(group);
    }
}
