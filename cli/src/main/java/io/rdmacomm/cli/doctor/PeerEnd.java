package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The other end of a connection.
interface PeerEnd extends AutoCloseable {
    /// How to reach it.
    Offer offer();

    /// Connects it by numbers.
    void connect(QueuePairInfo near);

    /// Waits until it has accepted a connection by address.
    void awaitAccepted();

    /// Whether its closed memory is unchanged.
    boolean isIntact();

    /// The statuses of its next receives.
    ///
    /// @param count how many to wait for
    /// @param limit how long to wait; returns fewer when it expires
    List<WorkStatus> receives(int count, Duration limit);

    @Override
    void close();

    /// How to reach an end.
    ///
    /// @param numbers the numbers of its queue pair
    /// @param address where it accepts a connection; null if it connects by numbers
    /// @param open memory with all rights
    /// @param closed memory without any right for peers
    record Offer(QueuePairInfo numbers, @Nullable InetSocketAddress address, RemoteMemory open, RemoteMemory closed) {}
}
