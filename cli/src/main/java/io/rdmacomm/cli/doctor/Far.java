package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.List;

/// The other end of a connection.
interface Far extends AutoCloseable {
    /// The way to reach it.
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
    /// @param limit how long to wait; when it expires, fewer are returned
    List<WorkStatus> receives(int count, Duration limit);

    @Override
    void close();
}
