package io.rdmacomm.cli.selftest;

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

    /// Whether nobody has written to its closed memory.
    boolean isIntact();

    /// The statuses of its next receives.
    ///
    /// @param count how many to wait for
    /// @param limit how long to wait; after that, there are fewer
    List<WorkStatus> receives(int count, Duration limit);

    @Override
    void close();
}
