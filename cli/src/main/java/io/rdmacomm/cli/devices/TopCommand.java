package io.rdmacomm.cli.devices;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.Subcommand;
import java.io.IOException;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm top`: a live table, like AeronStat.
@Command(
        name = "top",
        description = "Show what the programs of this user that use rdmacomm are doing on this machine.",
        footer = {
            "",
            "On a terminal the table is redrawn until q or Ctrl-C, otherwise one is printed per interval.",
            "Programs publish their counters about once a second, unless started with -Drdmacomm.counters=off.",
            "wstall/s and cstall/s: how often the send window was full, and the peer had no receive.",
            "errors: operations that failed and exceptions of handlers, so far. flight: operations in flight.",
            "memory: what the session of the channel has registered. limit: the limit for it, - without one.",
            "TCP is that of the whole host.",
            "",
            "Examples:",
            "  rdmacomm top",
            "  rdmacomm top --once --json - | jq '.processes[].channels[].per_second'"
        })
public final class TopCommand extends Subcommand {
    /// Each process publishes at its own times, about once a second.
    private static final long PUBLICATION_NANOS = 2_500_000_000L;
    private static final long PAUSE_NANOS = 50_000_000;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Time between tables, 0.1 to 3600 (default: ${DEFAULT-VALUE}).")
    @Range(min = 0.1, max = 3600)
    private double interval;

    @Option(names = "--once", description = "Show the rates over one interval, and exit.")
    private boolean once;

    @Option(names = "--pid", paramLabel = "PID", description = "Show this process only.")
    @Range(min = 1)
    private @Nullable Long pid;

    @Option(
            names = "--sort",
            paramLabel = "ORDER",
            defaultValue = "BUSY",
            description = "What comes first: busy (operations and messages), bytes, errors or pid (default: busy).")
    private RowOrder order = RowOrder.BUSY;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        if (json.requested() && !once) {
            throw usage("--json needs --once: a document has one sample");
        }
        json.check();
        Sampler sampler = new Sampler(pid == null ? 0 : pid, order);
        if (once) {
            showOnce(sampler);
        } else if (ProgressLine.isTerminal()) {
            redraw(sampler);
        } else {
            repeat(sampler);
        }
        return 0;
    }

    private void showOnce(Sampler sampler) throws IOException {
        var _ = sampler.sample();
        sleep(nanos());
        long deadline = System.nanoTime() + PUBLICATION_NANOS;
        Sample sample = sampler.sample();
        while (!sample.isComplete() && System.nanoTime() - deadline < 0) {
            sleep(PAUSE_NANOS);
            sample = sampler.sample();
        }
        if (pid != null && sample.processes().isEmpty()) {
            throw new CommandFailure("process " + pid + " publishes no counters in " + sample.folder()
                    + ": it has no session, has ended, is another user's, or was started with -Drdmacomm.counters=off");
        }
        json.write("", "", TopDocument.members(sample), output());
        if (!json.ownsStandardOutput()) {
            int width = ProgressLine.isTerminal() ? TopScreen.terminalWidth() : TopTable.UNLIMITED;
            print(TopTable.lines(sample, width, TopTable.UNLIMITED));
        }
    }

    private void print(List<String> lines) {
        lines.forEach(output()::println);
    }

    /// Prints tables until the process ends, or the reader is gone.
    private void repeat(Sampler sampler) throws IOException {
        var _ = sampler.sample();
        while (!output().out().checkError()) {
            sleep(nanos());
            print(framed(TopTable.lines(sampler.sample(), TopTable.UNLIMITED, TopTable.UNLIMITED)));
        }
    }

    private List<String> framed(List<String> lines) {
        List<String> framed = new ArrayList<>();
        framed.add("rdmacomm top, " + time() + ": " + lines.getFirst());
        framed.addAll(lines.subList(1, lines.size()));
        framed.add("");
        return framed;
    }

    private void redraw(Sampler sampler) throws IOException {
        try (TopScreen screen = TopScreen.open();
                CloseOnExit _ = new CloseOnExit(screen::close)) {
            do {
                int width = screen.width();
                List<String> lines = TopTable.lines(sampler.sample(), width, screen.height());
                String title =
                        "rdmacomm top, " + time() + ": " + lines.getFirst() + ", every " + interval + " s; q quits";
                lines.set(0, title.substring(0, Math.min(width, title.length())));
                screen.show(lines);
            } while (!screen.awaitQuit(nanos()));
        }
    }

    private static LocalTime time() {
        return LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
    }

    private long nanos() {
        return (long) (interval * 1e9);
    }

    private static void sleep(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
