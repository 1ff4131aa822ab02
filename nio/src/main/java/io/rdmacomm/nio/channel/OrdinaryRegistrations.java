package io.rdmacomm.nio.channel;

import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;

/// The keys of a channel of the JDK in the selectors inside of ours. Thread-safe.
final class OrdinaryRegistrations {
    private final List<SelectionKey> keys = new ArrayList<>();

    synchronized void add(SelectionKey key) {
        keys.removeIf(old -> !old.isValid());
        keys.add(key);
    }

    synchronized void cancelAll() {
        keys.forEach(SelectionKey::cancel);
        keys.clear();
    }
}
