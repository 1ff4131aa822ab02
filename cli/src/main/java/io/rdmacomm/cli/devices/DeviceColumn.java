package io.rdmacomm.cli.devices;

import java.util.function.Function;

/// A column of the table.
///
/// @param title its title
/// @param isText whether it contains text, which is left-aligned and may be cut
/// @param keepsEnd whether to cut the beginning instead of the end
/// @param minWidth the smallest useful width
/// @param cell its content in a row
record DeviceColumn(String title, boolean isText, boolean keepsEnd, int minWidth, Function<Row, String> cell) {
    static DeviceColumn text(String title, int minWidth, Function<Row, String> cell) {
        return new DeviceColumn(title, true, false, minWidth, cell);
    }

    /// A text whose end matters most, such as an address.
    static DeviceColumn end(String title, int minWidth, Function<Row, String> cell) {
        return new DeviceColumn(title, true, true, minWidth, cell);
    }

    static DeviceColumn number(String title, int minWidth, Function<Row, String> cell) {
        return new DeviceColumn(title, false, false, minWidth, cell);
    }

    static DeviceColumn rate(String title, int minWidth, Function<Rates, String> cell) {
        return new DeviceColumn(title, false, false, minWidth, row -> {
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
