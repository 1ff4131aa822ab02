package io.rdmacomm.comm;

import io.rdmacomm.comm.statistics.SessionStatistics;
import io.rdmacomm.verbs.Context;
import java.util.List;

/// The view of a session for counters and management beans. Thread-safe.
interface ObservedSession {
    /// Its name, as sent to peers.
    String name();

    /// Its open device.
    Context context();

    /// The port of the device that it uses.
    int port();

    /// The sum of its counters.
    SessionStatistics statistics();

    /// The memory that it has registered.
    RegisteredMemory memory();

    /// The connections of the endpoints that are not closed, oldest first.
    List<PeerConnection> connections();

    /// Notifies an observer of the open endpoints now, and of all changes from then on.
    void observe(SessionObserver observer);
}
