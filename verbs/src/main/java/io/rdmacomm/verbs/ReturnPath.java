package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.ContextDriver;
import java.lang.foreign.MemorySegment;

/// The path back to the sender of a datagram (ibv_init_ah_from_wc(3)). All values come from the sender, so
/// each is checked before a device gets it.
final class ReturnPath {
    private static final String OPERATION = "find the sender of a datagram (ibv_init_ah_from_wc)";
    /// Not the value in the header, which each router on the path here has reduced; the path back may have more
    /// routers.
    private static final int HOP_LIMIT = 64;

    private ReturnPath() {}

    static AddressVector of(ContextDriver context, int port, Completions completions, int index, MemorySegment buffer) {
        if (!completions.isSuccess(index) || !completions.isReceive(index)) {
            throw refused("completion " + index + " does not belong to a received datagram");
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
            throw refused("the datagram claims to come from " + sender + ", which is not a unicast address");
        }
        int own = ownIndex(context, port, header);
        return new AddressVector(sender, lid, own, port, level, header.trafficClass(), HOP_LIMIT, header.flowLabel());
    }

    /// The index of the GID that the datagram was sent to; for a multicast group, that of the preferred GID.
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
                + ", to which the datagram was sent: was it received by another port, or was the GID removed?");
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
