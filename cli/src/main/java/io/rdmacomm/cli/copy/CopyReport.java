package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.CountText;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.verbs.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Shows a file copy to people: a line at its end, a line for each failure, and on a terminal a line with the
/// progress.
final class CopyReport implements CopyProgress, AutoCloseable {
    private static final long UPDATE_NANOS = 200_000_000;
    private static final int NAME_WIDTH = 30;

    private final CommandOutput output;
    private final boolean quiet;
    private final boolean verbose;
    private final ProgressLine line;
    private final boolean remembers;
    private final List<Map<String, Object>> rows = new ArrayList<>();
    /// The times when the first file began, so that the figures do not include connecting.
    private ProcessTimes start = ProcessTimes.now();

    private long begin = System.nanoTime();
    private boolean begun;
    private long fileBegin;
    private long updated;
    private String file = "";
    private long size;
    private long there;
    private long continued;
    private String only = "";
    private long bytes;
    private int done;
    private int skipped;
    private int failed;
    private int warned;
    private String warning = "";

    /// @param quiet whether to keep text off the standard output
    /// @param verbose whether to print a line for each file
    /// @param remembers whether to record [#rows]
    CopyReport(CommandOutput output, boolean quiet, boolean verbose, boolean remembers) {
        this.output = output;
        this.quiet = quiet;
        this.verbose = verbose;
        this.remembers = remembers;
        this.line = new ProgressLine(output.err());
    }

    @Override
    public void onBegin(String name, long length, long already) {
        if (!begun) {
            begun = true;
            start = ProcessTimes.now();
            begin = System.nanoTime();
        }
        file = name;
        size = length;
        there = already;
        continued += already;
        fileBegin = System.nanoTime();
    }

    @Override
    public void onProgress(long position) {
        long now = System.nanoTime();
        if (now - updated < UPDATE_NANOS) {
            return;
        }
        updated = now;
        double seconds = Math.max(1, now - fileBegin) / 1e9;
        double rate = (position - there) / seconds;
        String name = Printable.text(file);
        line.show("%s%s: %d %% of %s, %s/s, %.0f s left"
                .formatted(
                        done > 0 ? CountText.of(done, "file") + " done, " : "",
                        name.length() > NAME_WIDTH ? name.substring(0, NAME_WIDTH) + "..." : name,
                        100 * position / Math.max(1, size),
                        ByteSize.format(size),
                        ByteSize.format((long) rate),
                        (size - position) / Math.max(1, rate)));
    }

    @Override
    public void onDone(String name, long length) {
        done++;
        bytes += length;
        only = name;
        if (remembers) {
            double seconds = (System.nanoTime() - fileBegin) / 1e9;
            Map<String, Object> row = row(name, length);
            row.put("seconds", seconds);
            row.put("gbps", 8.0 * length / seconds / 1e9);
            rows.add(row);
        }
        if (verbose && !quiet) {
            line.clear();
            output.println(Printable.text(name) + ": " + ByteSize.format(length));
        }
    }

    @Override
    public void onSkipped(String name, String why) {
        skipped++;
        if (remembers) {
            Map<String, Object> row = row(name, 0);
            row.put("skipped", why);
            rows.add(row);
        }
        if (verbose && !quiet) {
            line.clear();
            output.println(Printable.text(name) + ": not sent, because " + why);
        }
    }

    @Override
    public void onFailed(String name, String reason) {
        failed++;
        if (remembers) {
            Map<String, Object> row = row(name, 0);
            row.put("failure", Printable.text(reason));
            rows.add(row);
        }
        line.clear();
        output.complain(Printable.text(name) + ": " + Printable.text(reason));
    }

    @Override
    public void onWarning(String name, String reason) {
        warned++;
        warning = reason;
    }

    /// Prints the total of all files.
    void summarize(String transport) {
        line.clear();
        if (warned > 0) {
            output.complain("warning: permissions or times of %s could not be set: %s"
                    .formatted(CountText.of(warned, "file"), Printable.text(warning)));
        }
        if (quiet || done + skipped == 0) {
            return;
        }
        if (done == 0) {
            output.println("no files over " + transport + ", " + CountText.of(skipped, "file") + " skipped");
            return;
        }
        String what = done == 1 && skipped == 0 && !verbose
                ? Printable.text(only)
                : "%s over %s".formatted(CountText.of(done, "file"), transport);
        output.println(
                what + ": " + figures() + (skipped == 0 ? "" : ", " + CountText.of(skipped, "file") + " skipped"));
    }

    int failed() {
        return failed;
    }

    /// The members of the JSON document.
    ///
    /// @param transport its name
    Map<String, Object> toMap(String transport) {
        long nanos = System.nanoTime() - begin;
        ProcessTimes times = ProcessTimes.now().since(start);
        Map<String, Object> total = new LinkedHashMap<>();
        total.put("files", done);
        total.put("skipped", skipped);
        total.put("failed", failed);
        total.put("warned", warned);
        total.put("bytes", bytes);
        total.put("continued", continued);
        total.put("seconds", nanos / 1e9);
        total.put("gbps", 8.0 * (bytes - continued) / nanos);
        total.put("user_seconds", times.user());
        total.put("sys_seconds", times.system());
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("transport", transport);
        members.put("total", total);
        members.put("files", rows);
        return members;
    }

    private static Map<String, Object> row(String name, long size) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", Printable.text(name));
        row.put("bytes", size);
        return row;
    }

    private String figures() {
        long nanos = System.nanoTime() - begin;
        ProcessTimes times = ProcessTimes.now().since(start);
        return "%s in %.3f s, %.2f Gbit/s, user %.2f s, sys %.2f s, checksum correct%s"
                .formatted(
                        ByteSize.format(bytes),
                        nanos / 1e9,
                        8.0 * (bytes - continued) / nanos,
                        times.user(),
                        times.system(),
                        continued == 0 ? "" : ", continued after " + ByteSize.format(continued));
    }

    @Override
    public void close() {
        line.close();
    }

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
                // The name of the program, in parentheses, may contain anything, so count the fields after it.
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
}
