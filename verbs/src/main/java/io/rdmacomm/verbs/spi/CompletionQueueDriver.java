package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import java.lang.foreign.MemorySegment;

/// A completion queue ([io.rdmacomm.verbs.CompletionQueue]). One thread at a time polls and resizes it; others may arm
/// it meanwhile.
public interface CompletionQueueDriver extends Driver {
    /// The number by which the provider finds it, and that its events carry, never 0: the address of the C struct if
    /// there is one.
    long handle();

    /// The number of completions that it can hold.
    int capacity();

    /// Polls (ibv_poll_cq(3)). Never blocks, never allocates.
    ///
    /// @param into receives up to `max` completions, in the format of [CompletionLayout]
    /// @return the number of completions
    /// @throws io.rdmacomm.verbs.VerbException EIO if the queue overran and the device reports that to polling
    int poll(MemorySegment into, int max);

    /// Whether a poll would certainly do nothing: a look that costs much less. A driver without one returns false.
    /// Never blocks.
    default boolean isKnownEmpty() {
        return false;
    }

    /// Requests one event in the channel (ibv_req_notify_cq(3)). Called only if the queue has one. Never
    /// blocks.
    void arm(boolean solicitedOnly);

    /// The user acknowledges events (ibv_ack_cq_events(3)); all are acknowledged before [#close()].
    default void acknowledge(int events) {}

    /// Makes room for at least `capacity` completions (ibv_resize_cq(3)).
    default void resize(int capacity) {
        throw Unsupported.verb(this, "resize completion queue (ibv_resize_cq)", Capability.RESIZE_COMPLETION_QUEUE);
    }

    /// Makes the device raise fewer events (ibv_modify_cq(3)).
    ///
    /// @param completions within the limit of the device, 0 for no moderation
    /// @param micros the period in microseconds, 0 for no moderation
    default void moderate(int completions, int micros) {
        throw Unsupported.verb(this, "moderate completion queue (ibv_modify_cq)", Capability.COMPLETION_MODERATION);
    }
}
