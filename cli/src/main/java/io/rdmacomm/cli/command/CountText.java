package io.rdmacomm.cli.command;

/// Counts as text, like `1 ping` and `5 pings`.
public final class CountText {
    private CountText() {}

    /// The number and the name, in the plural unless the number is one.
    ///
    /// @param one the singular of the name, whose plural adds an s
    public static String of(long count, String one) {
        return count + " " + (count == 1 ? one : one + "s");
    }
}
