package io.rdmacomm.verbs.statistics;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.Set;

/// Identifies a process of this machine. Its number alone is not enough: numbers are reused, and containers have
/// their own numbers. Equal identities are the same process.
///
/// @param pid its number, in its own PID namespace
/// @param start its start time in clock ticks since boot (proc_pid_stat(5)); 0 if unknown
/// @param namespace the number of its PID namespace; 0 if unknown
public record ProcessIdentity(long pid, long start, long namespace) {
    private static final Path PROCESSES = Path.of("/proc");
    private static final int LONGEST_STAT = 4096;
    /// The index in proc_pid_stat(5) after the program name, which may contain any character.
    private static final int START_TIME = 19;
    /// The states of a process that has ended but was not reaped by its parent.
    private static final Set<String> DEAD = Set.of("Z", "X");

    /// This process. Reads files of `/proc`.
    public static ProcessIdentity own() {
        long pid = ProcessHandle.current().pid();
        long start;
        try {
            start = startOf(pid).orElse(0);
        } catch (IOException e) {
            start = 0;
        }
        return new ProcessIdentity(pid, start, ownNamespace());
    }

    private static long ownNamespace() {
        try {
            // For example pid:[4026531836].
            String link = Files.readSymbolicLink(PROCESSES.resolve("self/ns/pid"))
                    .getFileName()
                    .toString();
            return Long.parseLong(link.replaceAll("[^0-9]", ""));
        } catch (IOException | UnsupportedOperationException | NumberFormatException e) {
            return 0;
        }
    }

    /// Whether `reader` is sure that this process has ended. It cannot know that of a process in another PID
    /// namespace, or in one that is unknown.
    boolean isDead(ProcessIdentity reader) {
        if (namespace != reader.namespace || namespace == 0) {
            return false;
        }
        try {
            OptionalLong now = startOf(pid);
            return now.isEmpty() || (start != 0 && now.getAsLong() != 0 && now.getAsLong() != start);
        } catch (IOException e) {
            return false;
        }
    }

    /// The start time of the process with this number; 0 if unknown, empty if there is no such process.
    private static OptionalLong startOf(long pid) throws IOException {
        if (!Files.isDirectory(PROCESSES.resolve("self"))) {
            return ProcessHandle.of(pid).isPresent() ? OptionalLong.of(0) : OptionalLong.empty();
        }
        try (InputStream in = Files.newInputStream(PROCESSES.resolve(pid + "/stat"))) {
            String stat = new String(in.readNBytes(LONGEST_STAT), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
            boolean ended = DEAD.contains(fields[0]);
            return ended
                    ? OptionalLong.empty()
                    : OptionalLong.of(fields.length > START_TIME ? Long.parseLong(fields[START_TIME]) : 0);
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        } catch (NumberFormatException e) {
            return OptionalLong.of(0);
        }
    }
}
