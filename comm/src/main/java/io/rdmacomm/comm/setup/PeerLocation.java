package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.setup.SetUpException.Reason;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairInfo;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/// Checks that the queue pairs of a peer are where its TCP connection comes from.
///
/// A software device makes TCP connections to the address (GID) and port (LID) that a peer names. Unchecked, a
/// stranger could make it connect to any port of this host or of another one, and learn from the answer whether
/// somebody listens there; see decision 42.
public final class PeerLocation {
    /// The ports below belong to the system; no device listens there.
    private static final int FIRST_PORT = 1024;

    private PeerLocation() {}

    /// Returns if all queue pairs are at the peer's own address.
    ///
    /// A peer on this host may name any address of this host: a device is bound to one of them, and TCP may use
    /// another.
    ///
    /// @param remote where its TCP connection comes from
    /// @param peer what to call it
    /// @throws SetUpException OTHER, if one of them is somewhere else
    public static void check(List<ChannelInfo> channels, InetAddress remote, String peer) {
        QueuePairInfo first = channels.getFirst().queuePair();
        for (ChannelInfo channel : channels) {
            QueuePairInfo each = channel.queuePair();
            if (!each.gid().equals(first.gid()) || each.lid() != first.lid()) {
                throw refusal(peer + " names queue pairs at two places, " + place(first) + " and " + place(each)
                        + "; those of one device are at one place");
            }
        }
        if (first.lid() < FIRST_PORT) {
            throw refusal(peer + " names queue pairs at port " + first.lid() + ", which no device listens on");
        }
        InetAddress named = first.gid().address();
        if (!named.equals(remote) && !(isHere(remote) && isHere(named))) {
            throw refusal(peer + " names queue pairs at " + text(first.gid()) + ", which is not the address that it has"
                    + " here (" + remote.getHostAddress() + "); bind its device to that address, or allow other"
                    + " addresses with SessionOptions.withForeignGids (--foreign-gids)");
        }
    }

    /// Whether this host has the address.
    private static boolean isHere(InetAddress address) {
        try {
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            // The system cannot tell: only the peer's own address counts.
            return false;
        }
    }

    private static String place(QueuePairInfo at) {
        return text(at.gid()) + " port " + at.lid();
    }

    private static String text(Gid gid) {
        return gid.address().getHostAddress();
    }

    private static SetUpException refusal(String message) {
        return new SetUpException(Reason.OTHER, message);
    }
}
