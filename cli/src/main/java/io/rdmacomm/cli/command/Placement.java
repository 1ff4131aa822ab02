package io.rdmacomm.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Keeps the two ends of a measurement on one machine on different processors, with the program `taskset`. Each
/// gets half of the processors that this process may use. Otherwise the kernel sometimes puts both on the same
/// processor, where the polling ends must take turns.
///
/// It never fails: [#toString()] reports what was done, or why nothing was.
public final class Placement implements AutoCloseable {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final String text;
    private final String restored;

    private Placement(String text, String restored) {
        this.text = text;
        this.restored = restored;
    }

    /// The two halves of the processors that a process may use.
    ///
    /// @param first for the client, as a list that `taskset --cpu-list` takes
    /// @param second for the server
    public record Halves(String first, String second) {
        /// The halves for this process; empty if it has only one processor, or if the kernel does not report its
        /// processors.
        public static Optional<Halves> own() {
            return of(allowed());
        }

        static Optional<Halves> of(String list) {
            List<Integer> all = numbers(list);
            int middle = all.size() / 2;
            return middle == 0
                    ? Optional.empty()
                    : Optional.of(new Halves(text(all.subList(0, middle)), text(all.subList(middle, all.size()))));
        }

        private static String text(List<Integer> numbers) {
            return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
    }

    /// Moves all threads of this process to one half, and those of `peer` to the other. [#close()] gives this
    /// process its processors back.
    public static Placement apart(ProcessHandle peer) {
        Optional<Halves> halves = Halves.own();
        if (halves.isEmpty()) {
            return none("this process may use only one");
        }
        String before = allowed();
        Halves found = halves.get();
        String failure = peer.isAlive() ? move(peer, found.second()) : "the other process has ended";
        if (failure.isEmpty()) {
            failure = move(ProcessHandle.current(), found.first());
        }
        if (!failure.isEmpty()) {
            move(peer, before);
            return none(failure);
        }
        return new Placement("client on " + found.first() + ", server on " + found.second(), before);
    }

    /// Leaves the placement of both ends to the kernel, because of `reason`.
    public static Placement none(String reason) {
        return new Placement("chosen by the kernel: " + reason, "");
    }

    /// The processors of this process, such as `0-3,6`; empty if the kernel does not report them.
    private static String allowed() {
        try {
            return Files.readAllLines(STATUS).stream()
                    .filter(line -> line.startsWith(ALLOWED))
                    .map(line -> line.substring(ALLOWED.length()).strip())
                    .findFirst()
                    .orElse("");
        } catch (IOException _) {
            return "";
        }
    }

    private static List<Integer> numbers(String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : list.isEmpty() ? new String[0] : list.split(",", -1)) {
            String[] ends = range.split("-", 2);
            IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]))
                    .forEach(numbers::add);
        }
        return numbers;
    }

    /// @return why it failed; empty if it did not
    private static String move(ProcessHandle process, String processors) {
        try {
            Process taskset = new ProcessBuilder(
                            "taskset", "--all-tasks", "--cpu-list", "--pid", processors, "" + process.pid())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!taskset.waitFor(TIMEOUT)) {
                taskset.destroyForcibly();
                return "taskset did not end";
            }
            return taskset.exitValue() == 0 ? "" : "taskset failed with exit status " + taskset.exitValue();
        } catch (IOException _) {
            return "the program taskset is missing (Debian package util-linux)";
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    @Override
    public String toString() {
        return text;
    }

    @Override
    public void close() {
        if (!restored.isEmpty()) {
            move(ProcessHandle.current(), restored);
        }
    }
}
