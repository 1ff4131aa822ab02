package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.QueuePairNumbers;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The queue pairs of a context. Lookup by number takes no lock and allocates nothing, as each incoming datagram
/// needs it. Thread-safe.
final class QueuePairTable {
    private final AtomicReferenceArray<@Nullable ContextQueuePair> slots =
            new AtomicReferenceArray<>(ControlLayout.QUEUE_PAIR_COUNT);

    void add(ContextQueuePair queuePair) {
        slots.set(QueuePairNumbers.index(queuePair.number()), queuePair);
    }

    void remove(ContextQueuePair queuePair) {
        slots.set(QueuePairNumbers.index(queuePair.number()), null);
    }

    @Nullable
    ContextQueuePair find(int number) {
        ContextQueuePair queuePair = slots.get(QueuePairNumbers.index(number));
        return queuePair == null || queuePair.number() != number ? null : queuePair;
    }

    void forEach(Consumer<ContextQueuePair> action) {
        for (int i = 0; i < slots.length(); i++) {
            ContextQueuePair queuePair = slots.get(i);
            if (queuePair != null) {
                action.accept(queuePair);
            }
        }
    }
}
