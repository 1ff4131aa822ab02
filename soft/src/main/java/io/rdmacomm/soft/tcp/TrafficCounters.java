package io.rdmacomm.soft.tcp;

import java.util.HashSet;
import java.util.Set;

/// Adds up the traffic of all links of a context. The links count for themselves, without synchronization; those that
/// have ended are kept as a sum. Off the data path.
public final class TrafficCounters {
    private final Set<Link> open = new HashSet<>();
    private LinkTraffic ended = LinkTraffic.NONE;

    synchronized void begin(Link link) {
        open.add(link);
    }

    /// The link has ended. Idempotent.
    synchronized void end(Link link) {
        if (open.remove(link)) {
            ended = ended.plus(link.traffic());
        }
    }

    /// The traffic so far. What a link is doing at this moment may be missing.
    public synchronized LinkTraffic sum() {
        LinkTraffic sum = ended;
        for (Link link : open) {
            sum = sum.plus(link.traffic());
        }
        return sum;
    }
}
