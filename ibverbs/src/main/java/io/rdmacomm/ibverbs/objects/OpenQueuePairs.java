package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.cm.ConnectedQueuePair;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The open queue pairs of a device: events name their structs, the connection manager their numbers. Thread-safe.
final class OpenQueuePairs implements ConnectedQueuePair.Table {
    private final Map<Long, ConnectedQueuePair> byAddress = new ConcurrentHashMap<>();
    private final Map<Integer, ConnectedQueuePair> byNumber = new ConcurrentHashMap<>();

    /// A queue pair was created.
    ///
    /// @param address the address of its struct
    void add(long address, ConnectedQueuePair queuePair) {
        byAddress.put(address, queuePair);
        byNumber.put(queuePair.number(), queuePair);
    }

    /// Removes a queue pair. Call it before the struct is freed: the next one may have its address and number.
    void remove(long address, ConnectedQueuePair queuePair) {
        byAddress.remove(address);
        byNumber.remove(queuePair.number());
    }

    /// The queue pair whose struct is at `address`; null if it is not open.
    @Nullable
    ConnectedQueuePair at(long address) {
        return byAddress.get(address);
    }

    @Override
    public @Nullable ConnectedQueuePair numbered(int number) {
        return byNumber.get(number);
    }
}
