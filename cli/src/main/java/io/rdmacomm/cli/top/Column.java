package io.rdmacomm.cli.top;

import java.util.function.Function;

/// A column of the table.
///
/// @param title its title
/// @param isText whether it contains text, which is aligned left and may be cut
/// @param minWidth the fewest characters that it is useful with
/// @param cell its content in a row
record Column(String title, boolean isText, int minWidth, Function<Row, String> cell) {
    static Column text(String title, int minWidth, Function<Row, String> cell) {
        return new Column(title, true, minWidth, cell);
    }

    static Column number(String title, int minWidth, Function<Row, String> cell) {
        return new Column(title, false, minWidth, cell);
    }

    static Column rate(String title, int minWidth, Function<Rates, String> cell) {
        return new Column(title, false, minWidth, row -> {
            Rates rates = row.rates();
            return rates == null ? Figures.UNKNOWN : cell.apply(rates);
        });
    }

    /// `text` in `width` characters.
    String fit(String text, int width) {
        String cut = text.length() <= width ? text : text.substring(0, Math.max(0, width - 1)) + "~";
        String rest = " ".repeat(width - cut.length());
        return isText ? cut + rest : rest + cut;
    }
}
