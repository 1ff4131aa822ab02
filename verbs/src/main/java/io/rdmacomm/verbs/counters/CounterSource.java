package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.statistics.PublishedChannel;
import java.util.List;

/// Something whose counters are published: a session, or the sockets of a device.
public interface CounterSource {
    /// A record for each of its data channels, or one without a channel if it has none. Called about once a second, by
    /// one thread at a time; does not block.
    List<PublishedChannel> records();
}
