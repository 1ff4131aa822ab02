package io.rdmacomm.nio.channel;

import java.util.AbstractSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/// The selected keys of a selector: a program may remove keys, and add none.
///
/// @param <K> the keys; with a type of its own, [#add] refuses what is no key like a key
final class SelectedKeys<K> extends AbstractSet<K> {
    private final Set<K> keys = new HashSet<>();

    /// Adds a key; the selector.
    void select(K key) {
        keys.add(key);
    }

    @Override
    public boolean add(K key) {
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
    public Iterator<K> iterator() {
        return keys.iterator();
    }

    @Override
    public int size() {
        return keys.size();
    }
}
