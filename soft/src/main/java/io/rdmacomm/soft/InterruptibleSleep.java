package io.rdmacomm.soft;

import io.rdmacomm.verbs.service.SafeLogger;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;

/// Sleep at a bell that ends when the thread is interrupted: the JDK closes the channel in which the thread waits, and
/// that wakes all threads at the bell. They need another object afterwards ([#isOpen()]).
final class InterruptibleSleep extends AbstractInterruptibleChannel {
    private static final SafeLogger LOGGER = SafeLogger.of(InterruptibleSleep.class);

    private final QueueBell bell;

    InterruptibleSleep(QueueBell bell) {
        this.bell = bell;
    }

    /// Whether it is sleep at this bell.
    boolean isAt(QueueBell other) {
        return bell.equals(other);
    }

    /// Sleeps.
    ///
    /// @param word that [QueueBell#enter] has returned
    void sleep(int word, long nanos) {
        try {
            begin();
            bell.sleep(word, nanos);
        } finally {
            finish();
        }
    }

    private void finish() {
        try {
            end(/* completed= */ true);
        } catch (AsynchronousCloseException e) {
            // The caller looks for the interrupt.
        }
    }

    @Override
    protected void implCloseChannel() {
        try {
            bell.wake();
        } catch (RuntimeException | Error e) {
            // The file was truncated. The caller of Thread.interrupt cannot help that.
            LOGGER.log(System.Logger.Level.DEBUG, "a thread that was interrupted sleeps on", e);
        }
    }
}
