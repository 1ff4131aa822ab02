package io.rdmacomm.nio.channel;

import java.util.AbstractSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/// The selected keys of a selector. Programs may remove keys, but not add any.
///
/// @param <K> the type of the keys; a type parameter, so that [#add] rejects an object of any type in the same way
final class SelectedKeys<K> extends AbstractSet<K> {
    private final Set<K> keys = new HashSet<>();

    /// Adds a key. Only for the selector.
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
