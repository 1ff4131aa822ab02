import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/// Counts what the traffic has done. Thread-safe.
final class Meter {
    private final LongAdder operations = new LongAdder();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /// An answer has come and is right.
    void done() {
        operations.increment();
    }

    void failed(Throwable why) {
        failure.compareAndSet(null, why);
    }

    long operations() {
        return operations.sum();
    }

    /// @throws AssertionError if the traffic has failed
    void check() {
        Throwable why = failure.get();
        if (why != null) {
            throw new AssertionError("the traffic failed", why);
        }
    }
}
