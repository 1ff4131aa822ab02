package io.rdmacomm.tests.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Adds up what the links, the workers and the conductor say, and makes the tables. Thread-safe.
final class Report {
    /// The deadline for noticing that a process has died. A cable that loses packets may also lose the last ones of a
    /// dead process.
    private static final long NOTICE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /// The threads that must run for it one after the other on a busy machine: those of the kernel, the engine, the
    /// link.
    private static final int THREADS = 3;
    private static final long SPOILED_NOTICE_NANOS = TimeUnit.SECONDS.toNanos(45);
    /// In a shorter run, classes that are loaded and compiled look like leaks.
    private static final double JUDGED_HOURS = 0.25;
    private static final int MOST_PRINTED = 200;
    private static final double MIB = 1 << 20;
    private static final List<String> ENDS =
            List.of("lives", "quiet", "drop", "drop_both", "revoke", "stopped", "killed");
    private static final List<String> WRONGS = List.of("lost", "doubled", "wrong");

    /// A quantity of a process.
    ///
    /// @param slack growth over a run that is no leak
    private record Quantity(String name, String unit, double divisor, double slack) {}

    private static final List<Quantity> QUANTITIES = List.of(
            new Quantity("heap", "MiB", MIB, 2),
            new Quantity("direct", "MiB", MIB, 2),
            new Quantity("anonymous", "MiB", MIB, 32),
            new Quantity("descriptors", "", 1, 4),
            new Quantity("threads", "", 1, 4));

    /// All links of one transport.
    private static final class Sums {
        private int links;
        private final Map<String, Long> counts = new LinkedHashMap<>();
        private final long[] tally = new long[2 + Kind.values().length];
        private long slowest;

        void count(String what) {
            counts.merge(what, 1L, Long::sum);
        }

        long of(String what) {
            return counts.getOrDefault(what, 0L);
        }
    }

    private final SoakOptions options;
    private final String absence;
    private final Map<String, Sums> transports = new LinkedHashMap<>();
    private final Map<String, String> transportOf = new LinkedHashMap<>();
    private final Map<String, Long> faults = new TreeMap<>();
    private final Map<String, Long> violations = new TreeMap<>();
    private final List<String> texts = new ArrayList<>();
    private final Map<String, Series> running = new TreeMap<>();
    private final Map<String, Series> atRest = new TreeMap<>();
    private boolean warm;
    private long longestStop;

    /// @param absence why there are no links between namespaces; empty if there are
    Report(SoakOptions options, String absence) {
        this.options = options;
        this.absence = absence;
    }

    String absence() {
        return absence;
    }

    synchronized void add(Route route) {
        transportOf.put(route.name(), route.transport());
        transports.computeIfAbsent(route.transport(), key -> new Sums()).links++;
    }

    private Sums sums(String link) {
        return transports.computeIfAbsent(transportOf.getOrDefault(link, "-"), key -> new Sums());
    }

    synchronized void count(Route route, String what) {
        sums(route.name()).count(what);
    }

    synchronized void fault(String what) {
        faults.merge(what, 1L, Long::sum);
    }

    /// A process was stopped for this time.
    synchronized void stopped(long nanos) {
        longestStop = Math.max(longestStop, nanos);
    }

    /// A survivor noticed the death of a process after this time.
    synchronized void noticed(Route route, long nanos, long delay) {
        Sums sums = sums(route.name());
        sums.slowest = Math.max(sums.slowest, nanos);
        boolean spoiled = route.transport().contains("veth")
                && !System.getProperty("rdma.test.cable", "").isEmpty();
        if (nanos > (spoiled ? SPOILED_NOTICE_NANOS : NOTICE_NANOS) + THREADS * delay) {
            violation(
                    route.name(),
                    "late: the death of the peer was noticed after " + nanos / 1_000_000
                            + " ms, though a thread waited " + delay / 1_000_000 + " ms at most for a processor");
        }
    }

    /// @param text begins with the kind of the violation
    synchronized void violation(String link, String text) {
        String kind = text.substring(0, Math.max(0, text.indexOf(':')));
        violations.merge(kind, 1L, Long::sum);
        if (!link.isEmpty()) {
            sums(link).count(kind);
        }
        if (texts.size() < MOST_PRINTED) {
            texts.add(link + " " + text);
            System.out.println("soak: VIOLATION: " + link + " " + text);
        }
    }

    /// From now on, what grows is a leak.
    synchronized void warm() {
        if (!warm) {
            running.clear();
            warm = true;
        }
    }

    /// A sample of a worker.
    ///
    /// @param worker the name of one that lives as long as the run, otherwise null
    synchronized void sample(double seconds, @Nullable String worker, Words words, boolean rests) {
        words.all().forEach((name, value) -> {
            if (name.startsWith("tally.")) {
                long[] sum = sums(name.substring("tally.".length())).tally;
                String[] numbers = value.split(",", -1);
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += Long.parseLong(numbers[i]);
                }
            }
        });
        if (worker != null) {
            for (Quantity quantity : QUANTITIES) {
                add(
                        seconds,
                        "worker " + worker + ", " + quantity.name(),
                        words.number(quantity.name()) / quantity.divisor(),
                        rests);
            }
        }
    }

    synchronized void shared(double seconds, int files, long bytes, boolean rests) {
        add(seconds, "/dev/shm, files", files, rests);
        add(seconds, "/dev/shm, bytes", bytes / MIB, rests);
    }

    private void add(double seconds, String name, double value, boolean rests) {
        (rests ? atRest : running).computeIfAbsent(name, key -> new Series()).add(seconds, value);
    }

    synchronized String progress(double seconds) {
        return String.format(
                Locale.ROOT,
                "soak: %.0f of %.0f s, %,d messages, %,d requests, %,d lives, faults %s, longest stop %d ms, violations %s",
                seconds,
                options.seconds(),
                messages(),
                requests(),
                transports.values().stream().mapToLong(sums -> sums.of("lives")).sum(),
                faults,
                longestStop / 1_000_000,
                violations);
    }

    private long messages() {
        return transports.values().stream().mapToLong(sums -> sums.tally[0]).sum();
    }

    private long requests() {
        long sum = 0;
        for (Sums sums : transports.values()) {
            for (int i = 2; i < sums.tally.length; i++) {
                sum += sums.tally[i];
            }
        }
        return sum;
    }

    /// Writes and prints the report. Returns whether nothing is wrong.
    synchronized boolean write(double seconds) throws IOException {
        String resources = resources();
        if (messages() < options.least()) {
            violation("", "few: only " + messages() + " messages instead of " + options.least());
        }
        String text = head(seconds) + ends() + kinds() + resources + tail();
        Files.writeString(options.directory().resolve("soak.md"), text);
        Files.writeString(options.directory().resolve("soak.json"), json(seconds));
        System.out.print(text);
        Path shown = options.directory().toAbsolutePath().normalize();
        System.out.println("soak: the report is in " + shown.resolve("soak.md") + " and soak.json");
        return violations.isEmpty();
    }

    private String head(double seconds) {
        return String.format(
                Locale.ROOT,
                "%,d messages and %,d requests in %.1f minutes; seed %d; faults: %s%s%n%n",
                messages(),
                requests(),
                seconds / 60,
                options.seed(),
                faults,
                absence.isEmpty() ? "" : "; LEFT OUT: links between namespaces: " + absence);
    }

    private static void row(StringBuilder to, Object... cells) {
        to.append('|');
        for (Object cell : cells) {
            to.append(' ')
                    .append(cell instanceof Long number ? String.format(Locale.ROOT, "%,d", number) : cell)
                    .append(" |");
        }
        to.append('\n');
    }

    private static void line(StringBuilder to, int columns) {
        to.append("|---".repeat(columns)).append("|\n");
    }

    private String ends() {
        StringBuilder to = new StringBuilder();
        List<Object> titles = new ArrayList<>(List.of("transport", "links"));
        titles.addAll(ENDS);
        titles.addAll(List.of("messages", "MiB compared"));
        titles.addAll(WRONGS);
        titles.addAll(List.of("other", "slowest notice, ms"));
        row(to, titles.toArray());
        line(to, titles.size());
        transports.forEach((name, sums) -> {
            List<Object> cells = new ArrayList<>(List.of(name, sums.links));
            ENDS.forEach(end -> cells.add(sums.of(end)));
            cells.add(sums.tally[0]);
            cells.add(sums.tally[1] >> 20);
            WRONGS.forEach(wrong -> cells.add(sums.of(wrong)));
            cells.add(sums.counts.entrySet().stream()
                    .filter(count -> !ENDS.contains(count.getKey()) && !WRONGS.contains(count.getKey()))
                    .mapToLong(Map.Entry::getValue)
                    .sum());
            cells.add(sums.slowest / 1_000_000);
            row(to, cells.toArray());
        });
        return to.append('\n').toString();
    }

    private String kinds() {
        StringBuilder to = new StringBuilder();
        List<Object> titles = new ArrayList<>(List.of("requests"));
        titles.addAll(transports.keySet());
        row(to, titles.toArray());
        line(to, titles.size());
        Kind[] kinds = Kind.values();
        for (int i = 0; i < kinds.length; i++) {
            List<Object> cells = new ArrayList<>(List.of(kinds[i]));
            for (Sums sums : transports.values()) {
                cells.add(sums.tally[2 + i]);
            }
            row(to, cells.toArray());
        }
        return to.append('\n').toString();
    }

    private String resources() {
        StringBuilder to = new StringBuilder();
        row(
                to,
                "resource",
                "at rest, first",
                "at rest, last",
                "rests",
                "slope in an hour",
                "noise (3 sigma)",
                "samples");
        line(to, 7);
        running.forEach((name, series) -> {
            Series rests = atRest.getOrDefault(name, series);
            Series.Slope slope = series.slope();
            String unit = unit(name);
            row(
                    to,
                    name + unit,
                    decimal(rests.first()),
                    decimal(rests.last()),
                    (long) rests.size(),
                    decimal(slope.perHour()),
                    decimal(slope.noise()),
                    (long) series.size());
            double slack = slack(name);
            if (series.hours() < JUDGED_HOURS) {
                return;
            }
            if (slope.rises(series.hours(), slack)) {
                violation("", "leak: " + name + " rises by " + decimal(slope.perHour()) + unit + " in an hour");
            }
            if (rests.last() - rests.first() > slack) {
                violation(
                        "",
                        "leak: " + name + " at rest was " + decimal(rests.first()) + " and is " + decimal(rests.last())
                                + unit);
            }
        });
        return to.append('\n').toString();
    }

    private static String unit(String name) {
        return name.endsWith("bytes")
                        || QUANTITIES.stream()
                                .anyMatch(quantity -> name.endsWith(quantity.name())
                                        && !quantity.unit().isEmpty())
                ? ", MiB"
                : "";
    }

    private static double slack(String name) {
        return QUANTITIES.stream()
                .filter(quantity -> name.endsWith(quantity.name()))
                .mapToDouble(Quantity::slack)
                .findFirst()
                .orElse(4);
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    private String tail() {
        StringBuilder to = new StringBuilder("violations: " + violations + "\n");
        texts.forEach(text -> to.append("- ").append(text).append('\n'));
        return to.toString();
    }

    private String json(double seconds) {
        StringBuilder to = new StringBuilder();
        to.append(String.format(
                Locale.ROOT,
                "{\"seconds\": %.1f, \"seed\": %d, \"messages\": %d, \"requests\": %d,%n",
                seconds,
                options.seed(),
                messages(),
                requests()));
        to.append(" \"faults\": ").append(object(faults)).append(",\n");
        to.append(" \"violations\": ").append(object(violations)).append(",\n \"transports\": {");
        String comma = "";
        for (Map.Entry<String, Sums> entry : transports.entrySet()) {
            Map<String, Long> all = new LinkedHashMap<>(entry.getValue().counts);
            all.put("links", (long) entry.getValue().links);
            all.put("messages", entry.getValue().tally[0]);
            all.put("bytesCompared", entry.getValue().tally[1]);
            all.put("slowestNoticeNanos", entry.getValue().slowest);
            Kind[] kinds = Kind.values();
            for (int i = 0; i < kinds.length; i++) {
                all.put(kinds[i].name(), entry.getValue().tally[2 + i]);
            }
            to.append(comma)
                    .append("\n  \"")
                    .append(entry.getKey())
                    .append("\": ")
                    .append(object(all));
            comma = ",";
        }
        to.append("},\n \"resources\": {");
        comma = "";
        for (Map.Entry<String, Series> entry : running.entrySet()) {
            to.append(comma)
                    .append("\n  \"")
                    .append(entry.getKey())
                    .append("\": {\"running\": ")
                    .append(entry.getValue().json())
                    .append(", \"atRest\": ")
                    .append(atRest.getOrDefault(entry.getKey(), new Series()).json())
                    .append('}');
            comma = ",";
        }
        return to.append("}}\n").toString();
    }

    private static String object(Map<String, Long> values) {
        StringBuilder to = new StringBuilder("{");
        values.forEach((name, value) -> to.append(to.length() > 1 ? ", " : "")
                .append('"')
                .append(name)
                .append("\": ")
                .append(value));
        return to.append('}').toString();
    }
}
