package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Readiness;
import java.util.concurrent.CopyOnWriteArrayList;

/// The selectors in which a channel is registered. Thread-safe.
final class Listeners implements Readiness {
    private final CopyOnWriteArrayList<Readiness> all = new CopyOnWriteArrayList<>();

    void add(Readiness listener) {
        all.add(listener);
    }

    void remove(Readiness listener) {
        all.remove(listener);
    }

    @Override
    public void changed() {
        for (Readiness listener : all) {
            listener.changed();
        }
    }
}
