package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePairInfo;
import java.net.InetAddress;

/// The numbers of queue pairs that C programs exchange over TCP.
final class PeerNumbers {
    private PeerNumbers() {}

    /// Whether this end sends its GID: packets on Ethernet carry one. On InfiniBand the LID is enough, and the C
    /// programs send no GID there either unless told to.
    static boolean needGid(Context context, PathOptions path) {
        return path.gidIndex().isPresent() || isEthernet(context, path);
    }

    private static boolean isEthernet(Context context, PathOptions path) {
        return context.port(path.port()).linkLayer() == LinkLayer.ETHERNET;
    }

    /// Checks that a queue pair can connect to these numbers.
    ///
    /// @param path the path of this end
    /// @param from the host that sent the numbers
    /// @param withGid the C program's command with the option to send a GID, for the error message
    /// @throws CommandFailure if it cannot or must not connect
    static void check(QueuePairInfo remote, Context context, PathOptions path, InetAddress from, String withGid) {
        if (remote.gid().equals(Gid.NONE) && isEthernet(context, path)) {
            throw new CommandFailure("the peer sent no GID, and packets on Ethernet need one: start " + withGid);
        }
        if (!context.leadsTo(remote, from)) {
            throw new CommandFailure(remote + " is not the address of a device of " + from.getHostAddress()
                    + ", from where it was sent: bind the devices of both sides to addresses that lead to each other"
                    + " (-Drdmacomm.soft.devices=soft0=ADDRESS)");
        }
    }
}
