package io.rdmacomm.verbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Options of a queue pair (`struct ibv_qp_init_attr`, ibv_create_qp(3)). Immutable.
public final class QueuePairOptions extends ValueObject<QueuePairOptions> {
    private final CompletionQueue sendCompletions;
    private QueuePairType type = QueuePairType.RELIABLE_CONNECTED;
    private CompletionQueue receiveCompletions;
    private @Nullable SharedReceiveQueue sharedReceives;
    private QueueSizes sizes = QueueSizes.defaults();
    private boolean signalAll;
    private boolean singleThreaded;

    private QueuePairOptions(CompletionQueue completions) {
        sendCompletions = completions;
        receiveCompletions = completions;
    }

    /// A reliable connected queue pair of default sizes whose sends and receives complete in `completions`.
    public static QueuePairOptions reliable(CompletionQueue completions) {
        return new QueuePairOptions(completions).withType(QueuePairType.RELIABLE_CONNECTED);
    }

    /// These options with another transport service.
    public QueuePairOptions withType(QueuePairType value) {
        return with(copy -> copy.type = value);
    }

    /// These options with other sizes.
    public QueuePairOptions withSizes(QueueSizes value) {
        return with(copy -> copy.sizes = value);
    }

    /// These options with another queue for completions of receives.
    public QueuePairOptions withReceiveCompletions(CompletionQueue value) {
        Objects.requireNonNull(value, "completion queue of receives");
        return with(copy -> copy.receiveCompletions = value);
    }

    /// These options with receives from a shared receive queue.
    public QueuePairOptions withSharedReceives(SharedReceiveQueue value) {
        Objects.requireNonNull(value, "shared receive queue");
        return with(copy -> copy.sharedReceives = value);
    }

    /// These options with a completion for every send, or for signaled sends only.
    public QueuePairOptions withSignalAll(boolean value) {
        return with(copy -> copy.signalAll = value);
    }

    /// These options with or without the promise that one thread at a time posts; see [#singleThreaded()].
    public QueuePairOptions withSingleThreaded(boolean value) {
        return with(copy -> copy.singleThreaded = value);
    }

    /// The transport service.
    public QueuePairType type() {
        return type;
    }

    /// The queue for completions of sends.
    public CompletionQueue sendCompletions() {
        return sendCompletions;
    }

    /// The queue for completions of receives; may be the same.
    public CompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    /// The shared receive queue to take receives from; null if the queue pair has its own receive queue.
    public @Nullable SharedReceiveQueue sharedReceives() {
        return sharedReceives;
    }

    /// The sizes of the queues.
    public QueueSizes sizes() {
        return sizes;
    }

    /// Whether every send has a completion, even if it is not signaled.
    public boolean signalAll() {
        return signalAll;
    }

    /// Whether the caller promises that at most one thread at a time posts sends, and at most one posts receives, and
    /// that none does while the queue pair is reset or closed. Posting then takes no lock, as with a thread domain
    /// (ibv_alloc_td(3)). A device whose own threads use the queue pair ignores the promise and clears it in
    /// [QueuePair#options()].
    public boolean singleThreaded() {
        return singleThreaded;
    }

    @Override
    @Nullable
    Object[] fields() {
        return new @Nullable Object[] {
            "type",
            type,
            "sendCompletions",
            sendCompletions,
            "receiveCompletions",
            receiveCompletions,
            "sharedReceives",
            sharedReceives,
            "sizes",
            sizes,
            "signalAll",
            signalAll,
            "singleThreaded",
            singleThreaded
        };
    }
}
