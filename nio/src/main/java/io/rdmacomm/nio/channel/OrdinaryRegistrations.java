package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;

/// The keys that a channel of the JDK has in the internal selectors. Thread-safe.
final class OrdinaryRegistrations {
    private final List<SelectionKey> keys = new ArrayList<>();

    synchronized void add(SelectionKey key) {
        keys.removeIf(old -> !old.isValid());
        keys.add(key);
    }

    /// Makes the channel blocking or not. The caller has checked that no key of ours is left if it becomes
    /// blocking.
    synchronized void configureBlocking(SelectableChannel channel, boolean block) throws IOException {
        if (block) {
            keys.forEach(SelectionKey::cancel);
            keys.clear();
        }
        var _ = channel.configureBlocking(block);
    }
}
