package io.rdmacomm.nio.channel;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/// The selected keys of a selector: a program may remove keys, and add none.
final class SelectedKeys extends AbstractSet<SelectionKey> {
    private final Set<SelectionKey> keys = new HashSet<>();

    /// Adds a key; the selector.
    void select(SelectionKey key) {
        keys.add(key);
    }

    @Override
    public boolean add(SelectionKey key) {
        throw new UnsupportedOperationException("only the selector adds selected keys");
    }

    @Override
    public boolean contains(Object key) {
        return keys.contains(key);
    }

    @Override
    public boolean remove(Object key) {
        return keys.remove(key);
    }

    @Override
    public void clear() {
        keys.clear();
    }

    @Override
    public Iterator<SelectionKey> iterator() {
        return keys.iterator();
    }

    @Override
    public int size() {
        return keys.size();
    }
}
