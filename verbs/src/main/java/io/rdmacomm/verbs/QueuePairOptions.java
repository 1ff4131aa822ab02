package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// How a queue pair is created (`struct ibv_qp_init_attr`, ibv_create_qp(3)).
///
/// @param type the service
/// @param sendCompletions where sends complete
/// @param receiveCompletions where receives complete; may be the same queue
/// @param sharedReceives the queue that receives come from; null for an own receive queue
/// @param sizes the sizes of the queues
/// @param signalAll whether every send completes, not only those that ask for it
/// @param singleThreaded the caller promises that one thread at a time posts sends and one at a time posts
///         receives, and that none does while the queue pair is reset or closed; posting then takes no lock, as
///         with a thread domain (ibv_alloc_td(3)). A device whose own threads use the queue pair ignores it and
///         says so: the options of its queue pairs have it not
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

    /// These options with another service.
    public QueuePairOptions withType(QueuePairType value) {
        return new QueuePairOptions(
                value, sendCompletions, receiveCompletions, sharedReceives, sizes, signalAll, singleThreaded);
    }

    /// These options with other sizes.
    public QueuePairOptions withSizes(QueueSizes value) {
        return new QueuePairOptions(
                type, sendCompletions, receiveCompletions, sharedReceives, value, signalAll, singleThreaded);
    }

    /// These options with another queue for the completions of receives.
    public QueuePairOptions withReceiveCompletions(CompletionQueue value) {
        return new QueuePairOptions(type, sendCompletions, value, sharedReceives, sizes, signalAll, singleThreaded);
    }

    /// These options with receives from a shared receive queue.
    public QueuePairOptions withSharedReceives(SharedReceiveQueue value) {
        return new QueuePairOptions(type, sendCompletions, receiveCompletions, value, sizes, signalAll, singleThreaded);
    }

    /// These options with a completion for every send, or only for those that ask for it.
    public QueuePairOptions withSignalAll(boolean value) {
        return new QueuePairOptions(
                type, sendCompletions, receiveCompletions, sharedReceives, sizes, value, singleThreaded);
    }

    /// These options with the promise that one thread at a time posts; see [#singleThreaded()].
    public QueuePairOptions withSingleThreaded(boolean value) {
        return new QueuePairOptions(type, sendCompletions, receiveCompletions, sharedReceives, sizes, signalAll, value);
    }
}
