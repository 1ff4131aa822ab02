package io.rdmacomm.cli.command;

import java.io.IOException;

/// Detects the end of the process that started this one, because it closes the standard input.
public final class InputWatch {
    private InputWatch() {}

    public static void onEnd(Runnable action) {
        Thread thread = new Thread(
                () -> {
                    awaitEnd();
                    action.run();
                },
                "input-watch");
        thread.setDaemon(true);
        thread.start();
    }

    private static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {
                // The content does not matter.
            }
        } catch (IOException _) {
            // An unreadable input counts as the end.
        }
    }
}
