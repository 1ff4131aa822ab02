package io.rdmacomm.verbs;

/// A verbs object that is created from a parent, may have children, and must be closed.
///
/// The tree is Context -> {CompletionChannel, WaitGroup, CompletionQueue, ProtectionDomain -> {MemoryRegion,
/// MemoryWindow, SharedReceiveQueue, AddressHandle, QueuePair}}. [#close()] is idempotent and thread-safe, and closes
/// the children first, newest first. An object that another one uses without being its parent, such as the completion
/// queue of a queue pair, fails to close with EBUSY until the other is closed, as in C. Using a closed object
/// throws an [IllegalStateException] that names it.
///
/// Only the classes of this package and of [io.rdmacomm.verbs.cm] implement it.
public interface Resource extends AutoCloseable {
    /// The name of this object in messages, for example `queue pair 0x11 on soft0`.
    @Override
    String toString();

    /// Whether the object is usable: [#close()] was not called.
    boolean isOpen();

    /// Releases the object, after its children. Does nothing if it is already closed; waits if another thread is
    /// closing it.
    ///
    /// @throws VerbException EBUSY if another open object uses this one; then nothing is closed
    @Override
    void close();
}
