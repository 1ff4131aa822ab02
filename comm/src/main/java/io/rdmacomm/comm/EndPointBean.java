package io.rdmacomm.comm;

import io.rdmacomm.comm.jmx.EndPointMXBean;

/// An endpoint as a management bean.
final class EndPointBean extends CountersBean implements EndPointMXBean {
    private final EndPoint endPoint;

    EndPointBean(EndPoint endPoint) {
        this.endPoint = endPoint;
    }

    @Override
    ChannelStatistics statistics() {
        return endPoint.statistics();
    }

    @Override
    public String getName() {
        return endPoint.name();
    }

    @Override
    public String getPeerName() {
        return endPoint.peerName();
    }

    @Override
    public String getPeerAddress() {
        return endPoint.peerAddress();
    }

    @Override
    public String getState() {
        return endPoint.state().name();
    }

    @Override
    public String getFailure() {
        CommException why = endPoint.failure();
        return why == null ? "" : String.valueOf(why.getMessage());
    }

    @Override
    public int getChannels() {
        return endPoint.channels().size();
    }
}
