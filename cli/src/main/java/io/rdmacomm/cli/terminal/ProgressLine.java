package io.rdmacomm.cli.terminal;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;

/// A line that shows the progress of long work on the standard error, if that is a terminal.
public final class ProgressLine implements AutoCloseable {
    private final PrintWriter err;
    private final boolean visible;
    private int width;

    /// A line on `err`.
    public ProgressLine(PrintWriter err) {
        this.err = err;
        this.visible = isTerminal();
    }

    /// Whether the process has a terminal.
    public static boolean isTerminal() {
        return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    }

    /// Replaces the line.
    public void show(String text) {
        if (visible) {
            err.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
            err.flush();
            width = text.length();
        }
    }

    /// Removes the line, so that something else can be printed.
    public void clear() {
        if (visible && width > 0) {
            err.print("\r" + " ".repeat(width) + "\r");
            err.flush();
            width = 0;
        }
    }

    @Override
    public void close() {
        clear();
    }
}
