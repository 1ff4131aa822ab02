package io.rdmacomm.cli;

import java.util.List;

/// Runs actions on [#close()], or when Ctrl-C ends the process before it, so that nothing is left behind.
final class CloseOnExit implements AutoCloseable {
    private final Thread hook;
    private final List<Runnable> actions;

    CloseOnExit(Runnable... actions) {
        this.actions = List.of(actions);
        this.hook = new Thread(this::act, "close-on-exit");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The process is exiting, and the hook runs the actions.
            return;
        }
        act();
    }

    private void act() {
        actions.forEach(Runnable::run);
    }
}
