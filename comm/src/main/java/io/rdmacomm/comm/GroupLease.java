package io.rdmacomm.comm;

/// A completion group that a channel uses, alone or together with others.
///
/// @param group the group
/// @param onClose ends the use
record GroupLease(CompletionGroup group, Runnable onClose) implements AutoCloseable {
    @Override
    public void close() {
        onClose.run();
    }
}
