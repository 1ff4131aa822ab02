package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// Creates the other ends in this process.
///
/// @param context the open device
/// @param how how its queue pairs connect
/// @param address where they accept connections; null to connect by numbers
public record LocalPeer(
        Context context, ConnectionOptions how, @Nullable InetAddress address) implements Peer {
    @Override
    public PeerEnd open(EndPlan plan) {
        QueuePairEnd end = new QueuePairEnd(context, how, plan);
        return OnFailure.run(end::close, () -> new LocalPeerEnd(end, address));
    }
}
