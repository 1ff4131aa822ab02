package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnection;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import org.jspecify.annotations.Nullable;

/// The view of a selector on a channel of ours.
interface SelectableRdma {
    /// Processes what has arrived.
    ///
    /// @return the operations of [SelectionKey] that are ready
    int poll();

    /// The same, and requests an event of [#connection()] for what arrives next.
    int arm();

    /// The connection whose events a selector waits for; null before there is one.
    @Nullable
    RsConnection connection();

    /// The channel of the JDK that serves an address without rsockets; null if there is none.
    @Nullable
    AbstractSelectableChannel ordinary();

    /// Records a key of [#ordinary()]. It is cancelled before the channel becomes blocking again.
    void addOrdinaryKey(SelectionKey key);

    /// Informs a listener of changes from now on.
    void add(Readiness listener);

    /// No longer informs a listener.
    void remove(Readiness listener);

    /// Whether the channel is in several selectors.
    boolean isShared();
}
