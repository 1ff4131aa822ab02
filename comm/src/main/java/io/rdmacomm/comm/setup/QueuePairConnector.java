package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.cm.Connection;
import org.jspecify.annotations.Nullable;

/// Connects the queue pairs of one endpoint, one after another in the order of its channels. For one thread.
public interface QueuePairConnector {
    /// Brings a queue pair from RESET to READY_TO_SEND. Blocks.
    ///
    /// @param peer the numbers of the peer's queue pair
    /// @param how its options
    /// @param receives posts the receives; called when the queue pair accepts them, before the peer may send
    /// @return the connection to close before the queue pair; null if there is none
    @Nullable
    Connection connect(QueuePair queuePair, QueuePairInfo peer, ConnectionOptions how, Runnable receives);

    /// Whether this side must send first on each queue pair.
    boolean sendsFirst();

    /// By the numbers of the peer's queue pair; the peer does the same, at any time.
    QueuePairConnector BY_NUMBERS = new QueuePairConnector() {
        @Override
        public @Nullable Connection connect(
                QueuePair queuePair, QueuePairInfo peer, ConnectionOptions how, Runnable receives) {
            queuePair.connect(peer, how);
            receives.run();
            return null;
        }

        @Override
        public boolean sendsFirst() {
            return false;
        }
    };
}
