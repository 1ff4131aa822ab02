package io.rdmacomm.cli.devices;

import java.util.function.Function;

/// A column of the table.
///
/// @param title its title
/// @param isText whether it contains text, which is aligned left and may be cut
/// @param keepsEnd whether its beginning is cut
/// @param minWidth the smallest useful width
/// @param cell its content in a row
record Column(String title, boolean isText, boolean keepsEnd, int minWidth, Function<Row, String> cell) {
    static Column text(String title, int minWidth, Function<Row, String> cell) {
        return new Column(title, true, false, minWidth, cell);
    }

    /// A text whose end matters most, such as an address.
    static Column end(String title, int minWidth, Function<Row, String> cell) {
        return new Column(title, true, true, minWidth, cell);
    }

    static Column number(String title, int minWidth, Function<Row, String> cell) {
        return new Column(title, false, false, minWidth, cell);
    }

    static Column rate(String title, int minWidth, Function<Rates, String> cell) {
        return new Column(title, false, false, minWidth, row -> {
            Rates rates = row.rates();
            return rates == null ? Figures.UNKNOWN : cell.apply(rates);
        });
    }

    /// `text` in `width` characters.
    String fit(String text, int width) {
        String cut = text.length() <= width ? text : cut(text, Math.max(0, width - 1));
        String rest = " ".repeat(width - cut.length());
        return isText ? cut + rest : rest + cut;
    }

    private String cut(String text, int length) {
        return keepsEnd ? "~" + text.substring(text.length() - length) : text.substring(0, length) + "~";
    }
}
