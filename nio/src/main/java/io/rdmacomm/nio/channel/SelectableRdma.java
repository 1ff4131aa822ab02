package io.rdmacomm.nio.channel;

import io.rdmacomm.nio.rsocket.Readiness;
import io.rdmacomm.nio.rsocket.RsConnection;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import org.jspecify.annotations.Nullable;

/// A channel of ours as a selector sees it.
interface SelectableRdma {
    /// Notices what has arrived.
    ///
    /// @return the operations of [SelectionKey] that are ready
    int poll();

    /// The same, and requests an event of [#connection()] for what arrives next.
    int arm();

    /// The connection whose events a selector waits for; null before there is one.
    @Nullable
    RsConnection connection();

    /// The channel of the JDK that does the work for an address that rsockets do not serve; null if there is
    /// none.
    @Nullable
    AbstractSelectableChannel ordinary();

    /// Takes note of a key of [#ordinary()], which is to go when keys of this channel go: before it can be
    /// blocking again.
    void addOrdinaryKey(SelectionKey key);

    /// Informs a listener of changes from now on.
    void add(Readiness listener);

    /// No longer informs a listener.
    void remove(Readiness listener);
}
