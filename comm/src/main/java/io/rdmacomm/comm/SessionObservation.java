package io.rdmacomm.comm;

import io.rdmacomm.verbs.counters.CountersPublisher;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Publishes a session outside the program: in the counters file of the process, and, if the system property
/// `rdmacomm.jmx` is `on`, as management beans.
final class SessionObservation implements AutoCloseable {
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final long number = NUMBERS.incrementAndGet();
    private final ObservedSession session;
    private final SessionRecords records;
    private @Nullable SessionObserver beans;

    SessionObservation(ObservedSession session) {
        this.session = session;
        // Negative, because the numbers of channels are positive.
        this.records = new SessionRecords(session, -number);
    }

    /// The session is open.
    void begin() {
        CountersPublisher.PROCESS.add(records);
        if ("on".equals(System.getProperty("rdmacomm.jmx"))) {
            SessionObserver registered = register();
            beans = registered;
            session.observe(registered);
        }
    }

    private SessionObserver register() {
        try {
            return new SessionBeans(session, number);
        } catch (NoClassDefFoundError e) {
            SafeLogger.ofPackage(SessionObservation.class)
                    .log(
                            Level.WARNING,
                            "rdmacomm.jmx has no effect, because the module java.management is missing: add"
                                    + " --add-modules java.management");
            return SessionObserver.NONE;
        }
    }

    /// The session is being closed.
    @Override
    public void close() {
        CountersPublisher.PROCESS.remove(records);
        SessionObserver registered = beans;
        if (registered != null) {
            registered.close();
        }
    }
}
