package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;
import org.jspecify.annotations.Nullable;

/// The links whose requests complete in one completion queue. Most queues of a host have none, so the first link
/// opens the selector.
public final class TcpArrivals implements Arrivals {
    private final TcpNode node;
    private final CompletionRing completions;
    private volatile @Nullable LinkPoller links;
    private @Nullable LinkGroup group;

    /// No links yet.
    ///
    /// @param completions the ring of the completion queue
    public TcpArrivals(TcpNode node, CompletionRing completions) {
        this.node = node;
        this.completions = completions;
    }

    /// The links; from now on the polling thread drives them.
    LinkPoller links() {
        LinkPoller known = links;
        return known == null ? makeLinks() : known;
    }

    private synchronized LinkPoller makeLinks() {
        LinkPoller made = links;
        if (made == null) {
            made = new LinkPoller(completions);
            made.join(group);
            links = made;
        }
        return made;
    }

    @Override
    public boolean areFromNetwork() {
        return links != null;
    }

    @Override
    public boolean mayReceive() {
        LinkPoller polled = links;
        return polled != null && polled.mayDrive();
    }

    @Override
    public synchronized void join(@Nullable GroupPlace place) {
        group = place instanceof LinkGroup ofLinks ? ofLinks : null;
        LinkPoller made = links;
        if (made != null) {
            made.join(group);
        }
    }

    @Override
    public boolean receive() {
        LinkPoller polled = links;
        if (polled == null) {
            return false;
        }
        polled.drive();
        return true;
    }

    @Override
    public void armed(boolean leads) {
        if (links != null) {
            node.armed(leads);
        }
    }

    @Override
    public @Nullable Place place() {
        return links;
    }

    @Override
    public void close() {
        LinkPoller made = links;
        if (made != null) {
            made.close();
        }
    }
}
