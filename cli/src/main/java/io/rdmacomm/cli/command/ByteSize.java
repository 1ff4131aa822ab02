package io.rdmacomm.cli.command;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Sizes in bytes as people write them: `4096`, `64k`, `8M`, `1g`. The units are powers of 1024.
public final class ByteSize implements ITypeConverter<Long> {
    private static final String UNITS = "KMGT";

    /// For picocli.
    public ByteSize() {}

    @Override
    public Long convert(String text) {
        return parse(text);
    }

    /// The number of bytes that `text` denotes.
    ///
    /// @throws TypeConversionException if it is not a size
    public static long parse(String text) {
        String size = text.strip().toUpperCase(Locale.ROOT);
        if (size.endsWith("IB")) {
            size = size.substring(0, size.length() - 2);
        } else if (size.endsWith("B") && size.length() > 1) {
            size = size.substring(0, size.length() - 1);
        }
        int unit = size.isEmpty() ? -1 : UNITS.indexOf(size.charAt(size.length() - 1));
        String digits = (unit < 0 ? size : size.substring(0, size.length() - 1)).strip();
        try {
            long bytes = Math.multiplyExact(Long.parseLong(digits), 1L << (10 * (unit + 1)));
            if (bytes >= 0 && !digits.startsWith("+")) {
                return bytes;
            }
        } catch (NumberFormatException | ArithmeticException _) {
            // Reported below.
        }
        throw new TypeConversionException("'" + text + "' is not a size: write, for example, 4096, 64k or 8M");
    }

    /// `bytes` with a suitable unit, for example `1.5 GiB`.
    public static String format(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        int unit = Math.min((63 - Long.numberOfLeadingZeros(bytes)) / 10, UNITS.length());
        double value = bytes / (double) (1L << (10 * unit));
        String number = value == Math.rint(value) ? "%.0f".formatted(value) : "%.1f".formatted(value);
        return number + " " + UNITS.charAt(unit - 1) + "iB";
    }
}
