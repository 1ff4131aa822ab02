package io.rdmacomm.comm;

import io.rdmacomm.comm.jmx.SessionMXBean;
import java.util.Map;

/// A session as a management bean.
final class SessionBean extends CountersBean implements SessionMXBean {
    private final Session session;

    SessionBean(Session session) {
        this.session = session;
    }

    @Override
    ChannelStatistics statistics() {
        return session.statistics().channels();
    }

    @Override
    public String getName() {
        return session.name();
    }

    @Override
    public String getDevice() {
        return session.context().device().name();
    }

    @Override
    public int getEndPoints() {
        return session.statistics().endPoints();
    }

    @Override
    public long getEndPointsSetUp() {
        return session.statistics().setUp();
    }

    @Override
    public long getEndPointsFailed() {
        return session.statistics().failed();
    }

    @Override
    public Map<String, Long> getDeviceCounters() {
        return session.context()
                .counters(session.options().channel().connection().path().port());
    }
}
