package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PathOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Optional;
import java.util.stream.Stream;

/// The addresses of this host that belong to the port of a device.
final class PortAddresses {
    private PortAddresses() {}

    /// An address of the port: `wanted` unless that is the wildcard; else the first one found, or loopback if there
    /// is none.
    static InetAddress of(Context context, int port, InetAddress wanted) {
        if (!wanted.isAnyLocalAddress()) {
            return wanted;
        }
        try (Stream<NetworkInterface> all = NetworkInterface.networkInterfaces()) {
            Optional<InetAddress> found = all.flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLinkLocalAddress() && context.hasAddress(port, address))
                    .findFirst();
            return found.orElseGet(InetAddress::getLoopbackAddress);
        } catch (IOException _) {
            return InetAddress.getLoopbackAddress();
        }
    }

    /// These options, with the index of the GID that fits an address of this host unless they name one.
    static ConnectionOptions resolved(Context context, ConnectionOptions how, InetAddress local) {
        PathOptions path = how.path();
        if (path.gidIndex().isPresent() || context.port(path.port()).gidTableLength() == 0) {
            return how;
        }
        int index = local.isAnyLocalAddress()
                ? context.preferredGidIndex(path.port())
                : context.preferredGidIndex(path.port(), local);
        return how.withPath(path.withGidIndex(index));
    }
}
