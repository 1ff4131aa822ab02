package io.rdmacomm.cli.devices;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/// The terminal while the table is redrawn in place: the alternate screen, without a cursor, and with keys that
/// need no Enter. [#close()] restores it.
final class TopScreen implements AutoCloseable {
    private static final String OTHER_SCREEN = "\033[?1049h\033[?25l";
    private static final String FIRST_SCREEN = "\033[?25h\033[?1049l";
    private static final String HOME = "\033[H";
    private static final String CLEAR_LINE = "\033[K";
    private static final String CLEAR_REST = "\033[J";
    private static final int END_OF_INPUT = -1;
    private static final int CONTROL_C = 3;
    private static final Size UNKNOWN_SIZE = new Size(80, 24);

    private final Terminal terminal;
    private final Attributes before;
    private volatile boolean closed;

    private TopScreen(Terminal terminal) {
        this.terminal = terminal;
        this.before = terminal.enterRawMode();
        print(OTHER_SCREEN);
    }

    /// Takes control of the terminal of this process.
    ///
    /// @throws IOException if there is none
    static TopScreen open() throws IOException {
        return new TopScreen(terminal());
    }

    /// The number of characters in a line of this process's terminal, without taking control of it.
    ///
    /// @throws IOException if there is none
    static int terminalWidth() throws IOException {
        try (Terminal terminal = terminal()) {
            return size(terminal).getColumns();
        }
    }

    /// Uses stty(1), so that no native library is unpacked.
    private static Terminal terminal() throws IOException {
        return TerminalBuilder.builder()
                .system(true)
                .provider("exec")
                .dumb(false)
                .build();
    }

    private static Size size(Terminal terminal) {
        Size size = terminal.getSize();
        return size.getColumns() > 0 && size.getRows() > 1 ? size : UNKNOWN_SIZE;
    }

    /// The current number of characters in a line.
    int width() {
        return size(terminal).getColumns();
    }

    /// The current number of lines.
    int height() {
        return size(terminal).getRows();
    }

    /// Replaces the shown lines.
    synchronized void show(List<String> lines) {
        if (!closed) {
            print(HOME + String.join(CLEAR_LINE + "\r\n", lines) + CLEAR_LINE + CLEAR_REST);
        }
    }

    private void print(String text) {
        terminal.writer().print(text);
        terminal.flush();
    }

    /// Waits for a key that ends the command: q or Ctrl-C.
    ///
    /// @return whether one was pressed in time
    boolean awaitQuit(long nanos) throws IOException {
        long deadline = System.nanoTime() + nanos;
        try {
            for (long left = nanos; left > 0; left = deadline - System.nanoTime()) {
                int key = terminal.reader().read(Math.max(1, left / 1_000_000));
                if (key == 'q' || key == 'Q' || key == CONTROL_C || key == END_OF_INPUT) {
                    return true;
                }
            }
        } catch (IOException e) {
            if (!closed) {
                throw e;
            }
        }
        return closed;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        print(FIRST_SCREEN);
        terminal.setAttributes(before);
        try {
            terminal.close();
        } catch (IOException e) {
            throw new UncheckedIOException("restoring the terminal; `reset` restores it", e);
        }
    }
}
