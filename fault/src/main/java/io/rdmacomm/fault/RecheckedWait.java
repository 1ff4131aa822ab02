package io.rdmacomm.fault;

import io.rdmacomm.verbs.spi.Driver;
import java.util.concurrent.atomic.AtomicBoolean;

/// A wait for events that also ends when a held completion becomes due.
///
/// @param <D> the kind of the real driver
abstract class RecheckedWait<D extends Driver> extends Wrapper<D> {
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile boolean closing;

    RecheckedWait(D real) {
        super(real);
    }

    /// Makes the waiting thread check again which completions are due.
    abstract void recheck();

    /// Waits for an event, for at most `nanos`.
    ///
    /// @return the handle of the object with an event; 0 if there is none
    abstract long awaitNext(long nanos) throws InterruptedException;

    final long awaitOrDue(long timeoutNanos) throws InterruptedException {
        long begin = System.nanoTime();
        long left = timeoutNanos;
        while (true) {
            long event = awaitNext(woken.get() ? 0 : Math.max(0, left));
            boolean ended = woken.getAndSet(false);
            left = timeoutNanos - (System.nanoTime() - begin);
            if (event != 0 || ended || left <= 0 || closing) {
                return event;
            }
        }
    }

    /// Ends a wait.
    public void wakeUp() {
        woken.set(true);
        recheck();
    }

    @Override
    public void closing() {
        closing = true;
        real.closing();
    }
}
