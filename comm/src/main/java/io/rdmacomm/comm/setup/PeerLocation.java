package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.QueuePairInfo;
import java.net.InetAddress;
import java.util.List;

/// Compares the addresses of a peer's queue pairs with that of its TCP connection.
///
/// A software device makes TCP connections to the address (GID) and port (LID) that a peer sends. Unchecked,
/// a stranger could make it connect to any port of this or another host, and learn from the answer whether
/// that port is open; see decision 42.
public final class PeerLocation {
    private PeerLocation() {}

    /// Checks that all queue pairs are at the peer's own address.
    ///
    /// @param context the device that is to connect to them
    /// @param remote the address of the peer's TCP connection
    /// @param peer the peer's name in messages
    /// @throws SetupException OTHER if one of them is not; the message says what to do
    public static void check(Context context, List<QueuePairInfo> numbers, InetAddress remote, String peer) {
        QueuePairInfo first = numbers.getFirst();
        for (QueuePairInfo each : numbers) {
            if (!each.gid().equals(first.gid()) || each.lid() != first.lid()) {
                throw refusal(peer + " names queue pairs at two places, " + place(first) + " and " + place(each)
                        + "; those of one device are at one place");
            }
        }
        if (!context.leadsTo(first, remote)) {
            if (first.lid() == 0 && first.gid().address().equals(remote)) {
                throw refusal(peer + " has a device without a LID (RoCE), and the device here makes"
                        + " TCP connections; use devices of one transport on both sides (transport=roce in"
                        + " rdmacomm.soft.devices)");
            }
            throw refusal(peer + " names queue pairs at " + place(first) + "; those of its device can only be at the"
                    + " address that it has here (" + remote.getHostAddress() + "), at port 1024 or above; "
                    + advice(first, remote));
        }
    }

    private static String advice(QueuePairInfo named, InetAddress remote) {
        String ways = "connect with Setup.CONNECTION_MANAGER (--rdma-cm), or bind its device to that address"
                + " (-Drdmacomm.soft.devices=soft0=" + remote.getHostAddress() + ")";
        return isLoopback(named)
                ? ways
                : ways + ", or allow other addresses with SessionOptions.withForeignGids (--foreign-gids)";
    }

    /// Whether the numbers of two sides lead them to each other. Those of a device that is bound to the
    /// loopback address, the default, lead a peer on another host to itself.
    ///
    /// @param context the device of this side
    /// @param own numbers of this side
    /// @param peers numbers of the peer
    /// @param connection between the two
    /// @param foreign whether addresses other than those of the connection are allowed
    public static boolean isMutual(
            Context context, QueuePairInfo own, QueuePairInfo peers, TcpConnector connection, boolean foreign) {
        InetAddress remote = connection.remoteAddress();
        // This side's numbers lead to this host, so the peer can use them if it is on the same host.
        boolean isHere = context.leadsTo(own, remote);
        if (foreign) {
            return isHere || !(isLoopback(own) || isLoopback(peers));
        }
        return context.leadsTo(peers, remote) && (isHere || own.gid().address().equals(connection.localAddress()));
    }

    private static boolean isLoopback(QueuePairInfo numbers) {
        return numbers.gid().address().isLoopbackAddress();
    }

    private static String place(QueuePairInfo at) {
        return at.gid().address().getHostAddress() + " port " + at.lid();
    }

    private static SetupException refusal(String message) {
        return new SetupException(Reason.OTHER, message);
    }
}
