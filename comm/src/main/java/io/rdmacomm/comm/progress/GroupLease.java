package io.rdmacomm.comm.progress;

/// The use of a completion group by one channel, alone or shared with others.
///
/// @param group the group
/// @param onBegin starts polling it
/// @param onClose ends the use
public record GroupLease(CompletionGroup group, Runnable onBegin, Runnable onClose) implements AutoCloseable {
    /// The use of a group that is polled elsewhere.
    public GroupLease(CompletionGroup group) {
        this(group, () -> {}, () -> {});
    }

    /// Starts polling, before the first completion can arrive.
    public void begin() {
        onBegin.run();
    }

    @Override
    public void close() {
        onClose.run();
    }
}
