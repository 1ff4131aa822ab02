package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendOpcode;
import java.util.Set;

/// A driver's view of the user's queue pair: its locks, its state, and the reports of the driver to it.
public interface QueuePairOwner {
    /// The name of the queue pair in messages.
    @Override
    String toString();

    /// Takes the send lock, which is held while sends are posted and the state changes; for threads of the driver
    /// that use the send queue. Reentrant. Waits until it is free; not interruptible.
    void lockSends();

    /// Takes the send lock if it is free or this thread already holds it.
    boolean tryLockSends();

    /// Releases the send lock, which this thread holds.
    void unlockSends();

    /// Takes the receive lock, which is held while receives are posted and the state changes, after the send lock if
    /// both are needed. Reentrant. Waits until it is free; not interruptible.
    void lockReceives();

    /// Releases the receive lock, which this thread holds.
    void unlockReceives();

    /// The state known to this process. Never blocks.
    QueuePairState state();

    /// Whether the user has not started closing it. Never blocks.
    boolean isOpen();

    /// Records that the queue pair has changed its state.
    void entered(QueuePairState now);

    /// Makes posting reject requests that the peer does not support, until the queue pair is reset or this is called
    /// again. Called under the send lock.
    ///
    /// @param missing the opcodes that the peer does not support; replaces those of the last call
    /// @param why the kind of peer, and what to do
    void peerDoesNotSupport(Set<SendOpcode> missing, String why);

    /// Records attributes that were set by means other than [QueuePairDriver#modify], for example by a
    /// connection manager.
    void learned(QueuePairAttributes actual);

    /// Moves the queue pair to ERROR, which flushes it, if it is in use. On any thread that does not hold the
    /// locks.
    void fail();
}
