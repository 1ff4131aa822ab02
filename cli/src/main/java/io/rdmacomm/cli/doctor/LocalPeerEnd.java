package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.WorkStatus;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The other end of a connection, in this process.
final class LocalPeerEnd implements PeerEnd {
    private final QueuePairEnd end;
    private final @Nullable Acceptance acceptance;

    /// @param address where it accepts a connection; null to connect by numbers
    LocalPeerEnd(QueuePairEnd end, @Nullable InetAddress address) {
        this.end = end;
        this.acceptance = address == null ? null : Acceptance.begin(end, address);
    }

    @Override
    public PeerEnd.Offer offer() {
        return new PeerEnd.Offer(
                end.info(),
                acceptance == null ? null : acceptance.address(),
                end.open().remote(),
                end.closed().remote());
    }

    @Override
    public void connect(QueuePairInfo near) {
        end.connect(near);
    }

    @Override
    public void awaitAccepted() {
        if (acceptance != null) {
            acceptance.await();
        }
    }

    @Override
    public boolean isIntact() {
        return end.isIntact();
    }

    @Override
    public List<WorkStatus> receives(int count, Duration limit) {
        try {
            return List.copyOf(end.collect(ends -> ends.size() >= count, limit).values());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    @Override
    public void close() {
        try (end) {
            if (acceptance != null) {
                acceptance.close();
            }
        }
    }
}
