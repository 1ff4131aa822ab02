package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// Finds a queue pair by its number: open addressing in an array that writers replace and readers only read, so
/// that a poll needs neither a lock nor an allocation.
final class QueuePairTable {
    private volatile @Nullable QueuePair[] slots = new @Nullable QueuePair[16];
    private int count;

    @Nullable
    QueuePair find(int number) {
        @Nullable QueuePair[] table = slots;
        int mask = table.length - 1;
        for (int i = hash(number) & mask; ; i = (i + 1) & mask) {
            QueuePair candidate = table[i];
            if (candidate == null || candidate.number() == number) {
                return candidate;
            }
        }
    }

    synchronized void add(QueuePair queuePair) {
        count++;
        rebuild(null, queuePair);
    }

    synchronized void remove(QueuePair queuePair) {
        count--;
        rebuild(queuePair, null);
    }

    private void rebuild(@Nullable QueuePair without, @Nullable QueuePair added) {
        @Nullable QueuePair[] table = new @Nullable QueuePair[Math.max(16, Integer.highestOneBit(count) * 4)];
        for (QueuePair queuePair : slots) {
            if (queuePair != null && !queuePair.equals(without)) {
                insert(table, queuePair);
            }
        }
        if (added != null) {
            insert(table, added);
        }
        slots = table;
    }

    private static void insert(@Nullable QueuePair[] table, QueuePair queuePair) {
        int mask = table.length - 1;
        int i = hash(queuePair.number()) & mask;
        while (table[i] != null) {
            i = (i + 1) & mask;
        }
        table[i] = queuePair;
    }

    private static int hash(int number) {
        int mixed = number * 0x9E3779B9;
        return mixed ^ (mixed >>> 16);
    }
}
