package io.rdmacomm.comm;

import io.rdmacomm.comm.jmx.CountersMXBean;

/// The attributes that all management beans have.
abstract class CountersBean implements CountersMXBean {
    /// The counters now.
    abstract ChannelStatistics statistics();

    @Override
    public final long getOperations() {
        return statistics().operations();
    }

    @Override
    public final long getCompleted() {
        return statistics().completed();
    }

    @Override
    public final long getFailed() {
        return statistics().failed();
    }

    @Override
    public final long getBytesOut() {
        return statistics().bytesOut();
    }

    @Override
    public final long getBytesRead() {
        return statistics().bytesRead();
    }

    @Override
    public final long getMessages() {
        return statistics().messages();
    }

    @Override
    public final long getNotices() {
        return statistics().notices();
    }

    @Override
    public final long getBytesIn() {
        return statistics().bytesIn();
    }

    @Override
    public final long getWindowStalls() {
        return statistics().windowStalls();
    }

    @Override
    public final long getCreditStalls() {
        return statistics().creditStalls();
    }

    @Override
    public final long getCreditUpdates() {
        return statistics().creditUpdates();
    }

    @Override
    public final long getHandlerErrors() {
        return statistics().handlerErrors();
    }
}
