package io.rdmacomm.comm.jmx;

import java.util.Map;

/// A session, with the sum over all data channels, also over those of closed endpoints.
public interface SessionMXBean extends CountersMXBean {
    /// The name that peers are told.
    String getName();

    /// The name of its device.
    String getDevice();

    /// Endpoints that are open.
    int getEndPoints();

    /// Endpoints that were set up so far.
    long getEndPointsSetUp();

    /// Endpoints that have failed since they were set up, and are closed.
    long getEndPointsFailed();

    /// The counters of the device's port; see [io.rdmacomm.verbs.Context#counters(int)].
    Map<String, Long> getDeviceCounters();
}
