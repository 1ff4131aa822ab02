package io.rdmacomm.cli;

import io.rdmacomm.cli.copy.CopyProgress;
import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.CommandOutput;
import io.rdmacomm.cli.terminal.ProgressLine;
import io.rdmacomm.comm.text.Printable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;

/// Shows a file copy to people: a line for every file, and on a terminal a progress bar with rate and remaining time.
final class CopyReport implements CopyProgress, AutoCloseable {
    private static final int UPDATE_MILLIS = 200;

    private final CommandOutput output;
    private final boolean quiet;
    private final boolean terminal = ProgressLine.isTerminal();
    private final List<Map<String, Object>> rows = new ArrayList<>();
    private final ProcessTimes start = ProcessTimes.now();
    private @Nullable ProgressBar bar;
    private ProcessTimes before = start;
    private long bytes;
    private long nanos;
    private int done;
    private int failed;

    /// @param quiet whether to keep text off the standard output
    CopyReport(CommandOutput output, boolean quiet) {
        this.output = output;
        this.quiet = quiet;
    }

    @Override
    public void onBegin(String name, long size) {
        before = ProcessTimes.now();
        if (terminal && size > 0) {
            bar = new ProgressBarBuilder()
                    .setTaskName(Printable.text(name))
                    .setInitialMax(size)
                    .setUnit(" MiB", 1 << 20)
                    .showSpeed()
                    .setUpdateIntervalMillis(UPDATE_MILLIS)
                    .continuousUpdate()
                    .clearDisplayOnFinish()
                    .build();
        }
    }

    @Override
    public void onProgress(long position) {
        if (bar != null) {
            bar.stepTo(position);
        }
    }

    @Override
    public void onDone(String name, long size, long duration) {
        endBar();
        done++;
        bytes += size;
        nanos += duration;
        ProcessTimes times = ProcessTimes.now().since(before);
        Map<String, Object> row = row(name, size);
        row.put("seconds", duration / 1e9);
        row.put("gbps", 8.0 * size / duration);
        row.put("user_s", times.user());
        row.put("sys_s", times.system());
        rows.add(row);
        if (!quiet) {
            output.println(Printable.text(name) + ": " + figures(size, duration, times));
        }
    }

    @Override
    public void onFailed(String name, String reason) {
        endBar();
        failed++;
        Map<String, Object> row = row(name, 0);
        row.put("failure", reason);
        rows.add(row);
        output.complain(Printable.text(name) + ": " + reason);
    }

    /// Prints the total of all files, if there was more than one.
    void summarize(String transport) {
        if (!quiet && done > 1) {
            output.println("%d files over %s: %s"
                    .formatted(
                            done,
                            transport,
                            figures(bytes, nanos, ProcessTimes.now().since(start))));
        }
    }

    int failed() {
        return failed;
    }

    /// One JSON object for each file.
    List<Map<String, Object>> rows() {
        return rows;
    }

    private static Map<String, Object> row(String name, long size) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", name);
        row.put("bytes", size);
        return row;
    }

    private static String figures(long size, long duration, ProcessTimes times) {
        return "%s in %.3f s, %.2f Gbit/s, user %.2f s, sys %.2f s, checksum correct"
                .formatted(ByteSize.format(size), duration / 1e9, 8.0 * size / duration, times.user(), times.system());
    }

    private void endBar() {
        if (bar != null) {
            bar.close();
            bar = null;
        }
    }

    @Override
    public void close() {
        endBar();
    }
}
