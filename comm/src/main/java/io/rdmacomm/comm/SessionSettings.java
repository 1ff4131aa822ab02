package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.PageSize;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The values of [SessionOptions], without the listener.
record SessionSettings(
        String name,
        String device,
        Meeting meeting,
        Modes modes,
        Channels data,
        Trust trust,
        Deadlines deadlines,
        Buffers buffers) {
    /// How the two sides find each other.
    record Meeting(
            String host,
            int port,
            boolean waitForServer,
            Setup setup,
            int connectionPort,
            @Nullable Reconnect reconnect) {}

    /// How progress is made.
    record Modes(
            WorkMode work,
            @Nullable ThreadMode thread,
            @Nullable Integer vector) {}

    /// The data channels.
    record Channels(
            int count,
            int most,
            ChannelOptions each,
            ChannelConfigurer configurer,
            @Nullable SharedReceives receives) {}

    /// Which peers are accepted, and their limits.
    record Trust(@Nullable Tls tls, @Nullable Secret secret, PeerLimits limits, boolean foreignGids) {}

    /// The memory of buffers that are allocated.
    record Buffers(Set<AccessFlag> access, PageSize pages) {}

    SessionSettings withName(String value) {
        return new SessionSettings(value, device, meeting, modes, data, trust, deadlines, buffers);
    }

    SessionSettings withDevice(String value) {
        return new SessionSettings(name, value, meeting, modes, data, trust, deadlines, buffers);
    }

    SessionSettings with(Meeting value) {
        return new SessionSettings(name, device, value, modes, data, trust, deadlines, buffers);
    }

    SessionSettings with(Modes value) {
        return new SessionSettings(name, device, meeting, value, data, trust, deadlines, buffers);
    }

    SessionSettings with(Channels value) {
        return new SessionSettings(name, device, meeting, modes, value, trust, deadlines, buffers);
    }

    SessionSettings with(Trust value) {
        return new SessionSettings(name, device, meeting, modes, data, value, deadlines, buffers);
    }

    SessionSettings with(Deadlines value) {
        return new SessionSettings(name, device, meeting, modes, data, trust, value, buffers);
    }

    SessionSettings with(Buffers value) {
        return new SessionSettings(name, device, meeting, modes, data, trust, deadlines, value);
    }

    /// The options of each data channel, before the configurer has seen them.
    ChannelOptions channel() {
        return data.each();
    }

    SessionSettings withChannel(ChannelOptions value) {
        return with(new Channels(data.count(), data.most(), value, data.configurer(), data.receives()));
    }
}
