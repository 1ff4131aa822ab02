package io.rdmacomm.cli.command;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.utils.Signals;

/// Turns Ctrl-C into an interrupt of the thread that created this object, so that it can stop in order and show its
/// results. A second Ctrl-C ends the process at once.
public final class Interruption implements AutoCloseable {
    private static final String SIGNAL = "INT";
    private static final int INTERRUPTED = 130;

    private final Thread thread = Thread.currentThread();
    private final AtomicBoolean happened = new AtomicBoolean();
    private final Object before = Signals.register(SIGNAL, this::interrupt);

    /// Takes effect at once, and lasts until closed.
    public Interruption() {}

    private void interrupt() {
        if (!happened.compareAndSet(false, true)) {
            System.exit(INTERRUPTED);
        }
        thread.interrupt();
    }

    /// Whether Ctrl-C was pressed.
    public boolean hasHappened() {
        return happened.get();
    }

    /// Lets Ctrl-C end the process again, and clears the interrupt of this thread.
    @Override
    public void close() {
        Signals.unregister(SIGNAL, before);
        if (happened.get()) {
            var _ = Thread.interrupted();
        }
    }
}
