package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// Options of a queue pair (`struct ibv_qp_init_attr`, ibv_create_qp(3)).
///
/// @param type the transport service
/// @param sendCompletions the queue for completions of sends
/// @param receiveCompletions the queue for completions of receives; may be the same
/// @param sharedReceives the shared receive queue to take receives from; null to have its own receive queue
/// @param sizes the sizes of the queues
/// @param signalAll whether every send completes with a completion, even if it is not signaled
/// @param singleThreaded the caller promises that at most one thread at a time posts sends, and at most one posts
///         receives, and that none does while the queue pair is reset or closed. Posting then takes no lock, as
///         with a thread domain (ibv_alloc_td(3)). A device whose own threads use the queue pair ignores the
///         promise and clears it in [QueuePair#options()]
public record QueuePairOptions(
        QueuePairType type,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        @Nullable SharedReceiveQueue sharedReceives,
        QueueSizes sizes,
        boolean signalAll,
        boolean singleThreaded) {
    /// A reliable connected queue pair of default sizes whose sends and receives complete in `completions`.
    public static QueuePairOptions reliable(CompletionQueue completions) {
        return new QueuePairOptions(
                QueuePairType.RELIABLE_CONNECTED, completions, completions, null, QueueSizes.defaults(), false, false);
    }

    /// These options with another transport service.
    public QueuePairOptions withType(QueuePairType value) {
        return new QueuePairOptions(
                value, sendCompletions, receiveCompletions, sharedReceives, sizes, signalAll, singleThreaded);
    }

    /// These options with other sizes.
    public QueuePairOptions withSizes(QueueSizes value) {
        return new QueuePairOptions(
                type, sendCompletions, receiveCompletions, sharedReceives, value, signalAll, singleThreaded);
    }

    /// These options with another queue for completions of receives.
    public QueuePairOptions withReceiveCompletions(CompletionQueue value) {
        return new QueuePairOptions(type, sendCompletions, value, sharedReceives, sizes, signalAll, singleThreaded);
    }

    /// These options with receives from a shared receive queue.
    public QueuePairOptions withSharedReceives(SharedReceiveQueue value) {
        return new QueuePairOptions(type, sendCompletions, receiveCompletions, value, sizes, signalAll, singleThreaded);
    }

    /// These options with a completion for every send, or for signaled sends only.
    public QueuePairOptions withSignalAll(boolean value) {
        return new QueuePairOptions(
                type, sendCompletions, receiveCompletions, sharedReceives, sizes, value, singleThreaded);
    }

    /// These options with or without the promise that one thread at a time posts; see [#singleThreaded()].
    public QueuePairOptions withSingleThreaded(boolean value) {
        return new QueuePairOptions(type, sendCompletions, receiveCompletions, sharedReceives, sizes, signalAll, value);
    }
}
