package io.rdmacomm.cli.command;

/// Numbers of things, like `1 ping` and `5 pings`.
public final class CountText {
    private CountText() {}

    /// The number and the name, in the plural unless it is one.
    ///
    /// @param one the name of one of them, whose plural ends with an s
    public static String of(long count, String one) {
        return count + " " + (count == 1 ? one : one + "s");
    }
}
