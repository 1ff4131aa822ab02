package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.ContextDriver;
import java.lang.foreign.MemorySegment;

/// The path back to the sender of a datagram (ibv_init_ah_from_wc(3)). All of it comes from the sender, so each value
/// is checked before a device sees it.
final class ReturnPath {
    private static final String OPERATION = "find the sender of a datagram (ibv_init_ah_from_wc)";
    /// The sender's is smaller by the routers on the way here, which may be fewer than those on the way back.
    private static final int HOP_LIMIT = 64;

    private ReturnPath() {}

    static AddressVector of(ContextDriver context, int port, Completions completions, int index, MemorySegment buffer) {
        if (!completions.isSuccess(index) || !completions.isReceive(index)) {
            throw refused("completion " + index + " is not that of a received datagram");
        }
        int lid = completions.sourceLid(index);
        int level = completions.serviceLevel(index);
        if (!completions.hasGlobalRoute(index)) {
            if (context.queryPort(port).linkLayer == LinkLayer.ETHERNET) {
                throw refused("the datagram has no global routing header, and packets on Ethernet need one");
            }
            return new AddressVector(Gid.NONE, lid, 0, port, level, 0, 0, 0);
        }
        GlobalRoutingHeader header = GlobalRoutingHeader.read(buffer, 0);
        Gid sender = header.source();
        if (sender.equals(Gid.NONE) || sender.isMulticast()) {
            throw refused("the datagram claims to come from " + sender + ", which cannot be answered");
        }
        int own = ownIndex(context, port, header);
        return new AddressVector(sender, lid, own, port, level, header.trafficClass(), HOP_LIMIT, header.flowLabel());
    }

    /// The index of the GID that the datagram was sent to, or that of the preferred one if that is a multicast group.
    private static int ownIndex(ContextDriver context, int port, GlobalRoutingHeader header) {
        Gid own = header.destination();
        if (own.isMulticast()) {
            return GidChoice.choose(context.queryGidTable(port), LocalGids.NONE);
        }
        for (GidEntry entry : context.queryGidTable(port)) {
            if (entry.gid().equals(own) && fits(entry.type(), header)) {
                return entry.index();
            }
        }
        throw refused("port " + port + " of " + context + " has no GID " + own
                + ", to which the datagram was sent: was it received by another port, or has the GID gone?");
    }

    private static boolean fits(GidType type, GlobalRoutingHeader header) {
        boolean second = header.version() == 4 || header.nextHeader() != GlobalRoutingHeader.INFINIBAND;
        return switch (type) {
            case ROCE_V2 -> second;
            case ROCE_V1, INFINIBAND -> !second;
            case UNKNOWN -> true;
        };
    }

    private static VerbException refused(String detail) {
        return new VerbException(OPERATION, Errno.EINVAL, detail);
    }
}
