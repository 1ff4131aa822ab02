package io.rdmacomm.comm.progress;

/// The use of a completion group by one channel, alone or shared with others.
///
/// @param group the group
/// @param onClose ends the use
public record GroupLease(CompletionGroup group, Runnable onClose) implements AutoCloseable {
    @Override
    public void close() {
        onClose.run();
    }
}
