package io.rdmacomm.nio.rsocket;

import java.util.concurrent.CopyOnWriteArrayList;

/// Those who hear of changes, such as the selectors in which a channel is registered. Thread-safe.
public final class Listeners implements Readiness {
    private final CopyOnWriteArrayList<Readiness> all = new CopyOnWriteArrayList<>();

    /// Informs a listener of each change from now on.
    public void add(Readiness listener) {
        all.add(listener);
    }

    /// No longer informs a listener.
    public void remove(Readiness listener) {
        all.remove(listener);
    }

    @Override
    public void changed() {
        for (Readiness listener : all) {
            listener.changed();
        }
    }
}
