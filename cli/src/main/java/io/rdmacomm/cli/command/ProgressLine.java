package io.rdmacomm.cli.command;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A line that shows the progress of long work on the standard error, if that is a terminal.
public final class ProgressLine implements AutoCloseable {
    private static final String ERASED = "\r\u001b[K";
    /// Turns off DECAWM, the mode in which a terminal continues long text on the next line, where it would stay.
    private static final String WRAP_OFF = "\u001b[?7l";
    private static final String WRAP_ON = "\u001b[?7h";

    private final PrintWriter err;
    private final boolean visible;
    private boolean shown;

    /// A line on `err`.
    public ProgressLine(PrintWriter err) {
        this(err, isTerminal() && hasControlSequences(System.getenv("TERM")));
    }

    ProgressLine(PrintWriter err, boolean visible) {
        this.err = err;
        this.visible = visible;
    }

    /// Whether the process has a terminal.
    public static boolean isTerminal() {
        return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    }

    static boolean hasControlSequences(@Nullable String terminal) {
        return terminal != null && !terminal.isEmpty() && !terminal.equals("dumb");
    }

    /// Replaces the line. The terminal cuts off text that is longer than its lines: it puts all further characters
    /// into the last column, and the final space clears that column.
    public void show(String text) {
        if (visible) {
            err.print(ERASED + WRAP_OFF + text + " " + WRAP_ON);
            err.flush();
            shown = true;
        }
    }

    /// Removes the line, so that something else can be printed.
    public void clear() {
        if (shown) {
            err.print(ERASED);
            err.flush();
            shown = false;
        }
    }

    @Override
    public void close() {
        clear();
    }
}
