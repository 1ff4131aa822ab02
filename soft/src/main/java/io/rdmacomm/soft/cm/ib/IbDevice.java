package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.roce.RocePort;
import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// The device side of connections over RoCE: the port, its address, and the attributes that all queue pairs share.
///
/// @param name of the device, for messages
/// @param mostReads how many READs and atomics a queue pair can have in flight
record IbDevice(String name, RocePort port, InetAddress address, long guid, int mostReads) {
    private static final int HOP_LIMIT = 64;

    CommunicationManager protocol() {
        return port.connections();
    }

    /// The READs and atomics that this side accepts and starts.
    ReadDepths depths(ConnectionParameters parameters) {
        return new ReadDepths(
                Math.min(parameters.responderResources(), mostReads), Math.min(parameters.initiatorDepth(), mostReads));
    }

    /// The path to the port of a peer.
    static AddressVector path(InetAddress peer, int trafficClass) {
        return new AddressVector(Gid.of(peer), 0, 0, 1, 0, 0, HOP_LIMIT, trafficClass);
    }

    /// The peer has not answered any request.
    static PeerUnreachableException unreachable(String operation, InetSocketAddress peer) {
        return new PeerUnreachableException(
                operation,
                Errno.ETIMEDOUT,
                peer + " does not answer; check that it has RoCE v2 at this address, and that nothing between drops or"
                        + " translates UDP port 4791");
    }

    @Override
    public String toString() {
        return "connection manager of " + name;
    }
}
