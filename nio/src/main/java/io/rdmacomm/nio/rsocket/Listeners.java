package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CopyOnWriteArrayList;

/// The listeners for changes, such as the selectors in which a channel is registered. Thread-safe.
public final class Listeners implements Readiness {
    private static final SafeLogger LOGGER = SafeLogger.of(Listeners.class);

    private final CopyOnWriteArrayList<Readiness> all = new CopyOnWriteArrayList<>();

    /// Notifies a listener of each change from now on.
    public void add(Readiness listener) {
        all.add(listener);
    }

    /// Stops notifying a listener.
    public void remove(Readiness listener) {
        all.remove(listener);
    }

    /// Whether there are several.
    public boolean areSeveral() {
        return all.size() > 1;
    }

    @Override
    public void changed() {
        for (Readiness listener : all) {
            try {
                listener.changed();
            } catch (RuntimeException | Error e) {
                // The other listeners must still be notified.
                LOGGER.log(Level.WARNING, () -> listener + " could not be informed", e);
            }
        }
    }
}
