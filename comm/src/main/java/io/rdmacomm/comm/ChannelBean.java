package io.rdmacomm.comm;

import io.rdmacomm.comm.jmx.ChannelMXBean;

/// A channel as a management bean.
final class ChannelBean extends CountersBean implements ChannelMXBean {
    private final RdmaChannel channel;

    ChannelBean(RdmaChannel channel) {
        this.channel = channel;
    }

    @Override
    ChannelStatistics statistics() {
        return channel.statistics();
    }

    @Override
    public String getName() {
        return channel.name();
    }

    @Override
    public int getInFlight() {
        return channel.inFlight();
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }
}
