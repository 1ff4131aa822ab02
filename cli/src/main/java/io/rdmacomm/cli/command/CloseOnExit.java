package io.rdmacomm.cli.command;

import java.util.List;

/// Runs actions once: on [#close()], or when the process exits first, for example on Ctrl-C.
public final class CloseOnExit implements AutoCloseable {
    private final Thread hook;
    private final List<Runnable> actions;

    /// Registers the actions, to run in this order.
    public CloseOnExit(Runnable... actions) {
        this.actions = List.of(actions);
        this.hook = new Thread(this::run, "close-on-exit");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /// Whether the process is exiting, which explains any failure.
    public static boolean isExiting() {
        Thread probe = new Thread(() -> {}, "probe");
        try {
            Runtime.getRuntime().addShutdownHook(probe);
            return !Runtime.getRuntime().removeShutdownHook(probe);
        } catch (IllegalStateException _) {
            return true;
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The process is exiting, so the hook runs the actions.
            return;
        }
        run();
    }

    private void run() {
        actions.forEach(Runnable::run);
    }
}
