package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;

/// The packets of a context, for the thread that polls one of its completion queues.
public final class RoceArrivals implements Arrivals {
    private final RocePort port;
    private final CompletionRing completions;

    /// @param completions the ring of the completion queue
    public RoceArrivals(RocePort port, CompletionRing completions) {
        this.port = port;
        this.completions = completions;
    }

    @Override
    public boolean areFromNetwork() {
        return true;
    }

    @Override
    public boolean receive() {
        port.poll(completions.isArmed());
        return true;
    }

    @Override
    public void armed(boolean leads) {
        port.armed();
    }

    @Override
    public void close() {
        // The port stays open.
    }
}
