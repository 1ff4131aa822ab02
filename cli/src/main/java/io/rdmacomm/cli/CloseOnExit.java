package io.rdmacomm.cli;

import java.util.List;

/// Closes things also when the process is ended by Ctrl-C, so that nothing is left behind.
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
            // The process is ending, and the hook does it.
            return;
        }
        act();
    }

    private void act() {
        actions.forEach(Runnable::run);
    }
}
