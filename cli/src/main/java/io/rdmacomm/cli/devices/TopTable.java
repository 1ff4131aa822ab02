package io.rdmacomm.cli.devices;

import io.rdmacomm.cli.command.CountText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Formats a sample as lines of a given width.
final class TopTable {
    /// The width and height of a table that is not on a terminal.
    static final int UNLIMITED = Integer.MAX_VALUE;

    private static final int WIDEST_TEXT = 40;

    private static final DeviceColumn COMMAND =
            DeviceColumn.text("command", 7, row -> ownName(row.process().command()));
    private static final DeviceColumn SESSION =
            DeviceColumn.text("session", 10, row -> row.counters().session());
    private static final DeviceColumn PEER =
            DeviceColumn.end("peer", 12, row -> orDash(row.counters().peer()));
    private static final DeviceColumn CHANNEL =
            DeviceColumn.text("channel", 7, row -> orDash(row.counters().channel()));
    private static final DeviceColumn WINDOW_STALLS =
            DeviceColumn.rate("wstall/s", 8, rates -> Figures.decimal(rates.windowStalls()));
    private static final DeviceColumn CREDIT_STALLS =
            DeviceColumn.rate("cstall/s", 8, rates -> Figures.decimal(rates.creditStalls()));
    private static final DeviceColumn MEMORY =
            DeviceColumn.number("memory", 6, row -> Figures.bytes(row.registeredBytes()));
    private static final DeviceColumn LIMIT = DeviceColumn.number("limit", 6, row -> Figures.bytes(row.memoryLimit()));
    private static final DeviceColumn IN_FLIGHT =
            DeviceColumn.number("flight", 6, row -> Long.toString(row.counters().inFlight()));
    private static final List<DeviceColumn> ALL = List.of(
            DeviceColumn.number(
                    "pid", 7, row -> Long.toString(row.process().identity().pid())),
            COMMAND,
            SESSION,
            PEER,
            CHANNEL,
            DeviceColumn.rate("op/s", 6, rates -> Figures.decimal(rates.operations())),
            DeviceColumn.rate("msg/s", 6, rates -> Figures.decimal(rates.messages())),
            DeviceColumn.rate("in B/s", 7, rates -> Figures.bytes(rates.bytesIn())),
            DeviceColumn.rate("out B/s", 7, rates -> Figures.bytes(rates.bytesOut())),
            WINDOW_STALLS,
            CREDIT_STALLS,
            DeviceColumn.number("errors", 6, row -> Figures.decimal((double) row.errors())),
            IN_FLIGHT,
            MEMORY,
            LIMIT);
    /// The columns to drop on a narrow terminal, in this order.
    private static final List<DeviceColumn> DISPENSABLE =
            List.of(LIMIT, SESSION, WINDOW_STALLS, CREDIT_STALLS, MEMORY, IN_FLIGHT, CHANNEL, PEER);
    private static final String OWN_PROGRAM = "rdmacomm ";

    private TopTable() {}

    private static String orDash(String text) {
        return text.isEmpty() ? Figures.UNKNOWN : text;
    }

    /// The name of an rdmacomm command without its prefix.
    private static String ownName(String command) {
        return command.startsWith(OWN_PROGRAM) ? command.substring(OWN_PROGRAM.length()) : command;
    }

    /// The line about TCP; null if there are no figures.
    private static @Nullable String tcpLine(Sample sample) {
        Sampler.HostTcp tcp = sample.tcp();
        return tcp == null
                ? null
                : "TCP of this host: %s segments/s out, %s/s retransmitted, %s timeouts/s; %d retransmitted since boot"
                        .formatted(
                                Figures.decimal(tcp.segmentsOut()),
                                Figures.decimal(tcp.retransmitted()),
                                Figures.decimal(tcp.timeouts()),
                                tcp.total().retransmitted());
    }

    /// Formats a sample.
    ///
    /// @param width the most characters of a line
    /// @param height the most lines
    static List<String> lines(Sample sample, int width, int height) {
        List<String> lines = new ArrayList<>();
        int processes = sample.processes().size();
        lines.add(processes
                + (processes == 1 ? " process, " : " processes, ")
                + CountText.of(sample.rows().size(), "channel"));
        String tcp = tcpLine(sample);
        if (tcp != null) {
            lines.add(tcp);
        }
        lines.add("");
        if (sample.rows().isEmpty()) {
            lines.add("no process of this user publishes counters in " + sample.folder());
        } else {
            addTable(sample.rows(), width, lines);
        }
        if (sample.leftOut() > 0) {
            lines.add(sample.leftOut() + " more channels have no room in the files of their processes");
        }
        sample.problems().forEach(problem -> lines.add("unreadable: " + problem));
        return cut(lines, width, height);
    }

    private static void addTable(List<Row> rows, int width, List<String> lines) {
        List<DeviceColumn> columns = columns(width);
        int[] widths = widths(columns, rows, width);
        StringBuilder titles = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            titles.append(i == 0 ? "" : " ")
                    .append(columns.get(i).fit(columns.get(i).title(), widths[i]));
        }
        lines.add(titles.toString().stripTrailing());
        for (Row row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                DeviceColumn column = columns.get(i);
                line.append(i == 0 ? "" : " ").append(column.fit(column.cell().apply(row), widths[i]));
            }
            lines.add(line.toString().stripTrailing());
        }
    }

    /// The columns that fit.
    private static List<DeviceColumn> columns(int width) {
        List<DeviceColumn> columns = new ArrayList<>(ALL);
        for (DeviceColumn next : DISPENSABLE) {
            if (sum(minWidths(columns)) <= width) {
                break;
            }
            columns.remove(next);
        }
        return columns;
    }

    private static int[] minWidths(List<DeviceColumn> columns) {
        return columns.stream().mapToInt(DeviceColumn::minWidth).toArray();
    }

    private static int sum(int[] widths) {
        int sum = widths.length - 1;
        for (int width : widths) {
            sum += width;
        }
        return sum;
    }

    /// Makes each column as wide as its content, up to a limit. If there is not enough room, the columns share what
    /// is left.
    private static int[] widths(List<DeviceColumn> columns, List<Row> rows, int width) {
        int[] widths = minWidths(columns);
        int[] wanted = columns.stream().mapToInt(column -> wanted(column, rows)).toArray();
        int room = width - sum(widths);
        boolean grown = true;
        while (grown && room > 0) {
            grown = false;
            for (int i = 0; i < widths.length && room > 0; i++) {
                if (widths[i] < wanted[i]) {
                    widths[i]++;
                    room--;
                    grown = true;
                }
            }
        }
        return widths;
    }

    private static int wanted(DeviceColumn column, List<Row> rows) {
        int widest = 0;
        for (Row row : rows) {
            widest = Math.max(widest, column.cell().apply(row).length());
        }
        return Math.min(widest, WIDEST_TEXT);
    }

    private static List<String> cut(List<String> lines, int width, int height) {
        List<String> shown = new ArrayList<>(lines.subList(0, Math.min(lines.size(), height)));
        if (shown.size() < lines.size()) {
            shown.set(shown.size() - 1, (lines.size() - height + 1) + " more lines: enlarge the window");
        }
        shown.replaceAll(line -> line.length() <= width ? line : line.substring(0, width));
        return shown;
    }
}
