package io.rdmacomm.comm.progress;

/// The use of a completion group by one channel, alone or shared with others.
///
/// @param group the group
/// @param onBegin has it polled from now on
/// @param onClose ends the use
public record GroupLease(CompletionGroup group, Runnable onBegin, Runnable onClose) implements AutoCloseable {
    /// The use of a group that somebody else has polled.
    public GroupLease(CompletionGroup group) {
        this(group, () -> {}, () -> {});
    }

    /// Has the group polled, before the first completion is to be expected.
    public void begin() {
        onBegin.run();
    }

    @Override
    public void close() {
        onClose.run();
    }
}
