package io.rdmacomm.cli.report;

import java.util.List;

/// A table of a report, which can also be printed as text.
///
/// @param title the title above the table
/// @param header the names of the columns
/// @param rows the cells; the first column is text, the others are figures
public record Grid(String title, List<String> header, List<List<String>> rows) {
    /// The table as aligned text, one line per row.
    public String text() {
        int[] widths = new int[header.size()];
        widen(widths, header);
        rows.forEach(row -> widen(widths, row));
        StringBuilder text = new StringBuilder();
        append(text, widths, header);
        rows.forEach(row -> append(text, widths, row));
        return text.toString();
    }

    private static void widen(int[] widths, List<String> cells) {
        for (int i = 0; i < widths.length; i++) {
            widths[i] = Math.max(widths[i], cells.get(i).length());
        }
    }

    private static void append(StringBuilder text, int[] widths, List<String> cells) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String fill = " ".repeat(widths[i] - cells.get(i).length());
            line.append(i == 0 ? cells.get(i) + fill : "  " + fill + cells.get(i));
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }
}
