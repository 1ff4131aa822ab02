package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import org.jspecify.annotations.Nullable;

/// A queue pair to create (`struct ibv_qp_init_attr`, ibv_create_qp(3)).
///
/// @param type the transport service, which the device supports
/// @param sizes the sizes of the queues, within the limits of the device
/// @param sendCompletions the queue for completions of sends
/// @param receiveCompletions the queue for completions of receives; may be the same
/// @param sharedReceives the source of its receives; null if it has its own receive queue
/// @param signalAll whether every send has a completion
/// @param owner the queue pair of the user
public record QueuePairRequest(
        QueuePairType type,
        QueueSizes sizes,
        CompletionQueueDriver sendCompletions,
        CompletionQueueDriver receiveCompletions,
        @Nullable SharedReceiveQueueDriver sharedReceives,
        boolean signalAll,
        QueuePairOwner owner) {}
