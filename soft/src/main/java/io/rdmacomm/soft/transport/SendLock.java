package io.rdmacomm.soft.transport;

/// The send lock of a queue pair, for the threads that drive its transport without posting: polling threads and the
/// engine.
public interface SendLock {
    /// Takes the lock.
    void enter();

    /// Takes the lock if it is free.
    boolean tryEnter();

    /// Acts on what the transport has reported, then gives the lock back.
    void leave();
}
