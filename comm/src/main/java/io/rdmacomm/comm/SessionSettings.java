package io.rdmacomm.comm;

import static java.util.Objects.requireNonNull;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.PageSize;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The values of [SessionOptions], without the listener.
record SessionSettings(
        String name,
        String device,
        Addressing addressing,
        Modes modes,
        Channels data,
        Trust trust,
        Deadlines deadlines,
        Buffers buffers) {
    SessionSettings {
        requireNonNull(name, "name");
        requireNonNull(device, "device");
        requireNonNull(deadlines, "deadlines");
    }

    /// How the two sides find each other.
    record Addressing(
            String host,
            int port,
            boolean waitForServer,
            Setup setup,
            int connectionPort,
            @Nullable Reconnect reconnect) {
        Addressing {
            requireNonNull(host, "host");
            requireNonNull(setup, "setup");
        }
    }

    /// How progress is made.
    ///
    /// @param threads of SHARED_CQ
    record Modes(WorkMode work, @Nullable ThreadMode thread, int threads, OptionalInt vector) {
        Modes {
            requireNonNull(work, "work mode");
        }
    }

    /// The data channels.
    record Channels(
            int count,
            int most,
            ChannelOptions each,
            ChannelConfigurer configurer,
            @Nullable SharedReceives receives) {
        Channels {
            requireNonNull(each, "channel options");
            requireNonNull(configurer, "configurer");
        }
    }

    /// Which peers are accepted, and their limits.
    record Trust(@Nullable Tls tls, @Nullable Secret secret, PeerLimits limits, boolean foreignGids) {
        Trust {
            requireNonNull(limits, "limits");
        }
    }

    /// The memory of buffers that are allocated.
    ///
    /// @param limit of all registered memory, in bytes
    record Buffers(Set<AccessFlag> access, PageSize pages, long limit) {
        Buffers {
            requireNonNull(pages, "pages");
        }
    }

    SessionSettings withName(String value) {
        return new SessionSettings(value, device, addressing, modes, data, trust, deadlines, buffers);
    }

    SessionSettings withDevice(String value) {
        return new SessionSettings(name, value, addressing, modes, data, trust, deadlines, buffers);
    }

    SessionSettings with(Addressing value) {
        return new SessionSettings(name, device, value, modes, data, trust, deadlines, buffers);
    }

    SessionSettings with(Modes value) {
        return new SessionSettings(name, device, addressing, value, data, trust, deadlines, buffers);
    }

    SessionSettings with(Channels value) {
        return new SessionSettings(name, device, addressing, modes, value, trust, deadlines, buffers);
    }

    SessionSettings with(Trust value) {
        return new SessionSettings(name, device, addressing, modes, data, value, deadlines, buffers);
    }

    SessionSettings with(Deadlines value) {
        return new SessionSettings(name, device, addressing, modes, data, trust, value, buffers);
    }

    SessionSettings with(Buffers value) {
        return new SessionSettings(name, device, addressing, modes, data, trust, deadlines, value);
    }

    /// The options of each data channel, before the configurer has seen them.
    ChannelOptions channel() {
        return data.each();
    }

    SessionSettings withChannel(ChannelOptions value) {
        return with(new Channels(data.count(), data.most(), value, data.configurer(), data.receives()));
    }
}
