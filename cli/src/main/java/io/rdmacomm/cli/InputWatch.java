package io.rdmacomm.cli;

import java.io.IOException;

/// Notices when the process that started this one is gone: its end of the standard input closes then.
final class InputWatch {
    private InputWatch() {}

    static void onEnd(Runnable action) {
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
                // What is in it does not matter.
            }
        } catch (IOException _) {
            // As good as the end.
        }
    }
}
