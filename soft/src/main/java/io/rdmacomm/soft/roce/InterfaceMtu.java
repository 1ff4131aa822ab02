package io.rdmacomm.soft.roce;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;

/// The largest path MTU that fits into the packets of an interface.
final class InterfaceMtu {
    /// IP, UDP and the headers of RoCE, as rxe reserves them.
    private static final int HEADERS = 80;

    private InterfaceMtu() {}

    /// The path MTU of the interface with an address.
    ///
    /// @throws VerbException EINVAL if its packets are too short for RoCE
    static PathMtu of(InetAddress address) throws IOException {
        NetworkInterface network = NetworkInterface.getByInetAddress(address);
        // Every address of 127.0.0.0/8 is this host.
        int bytes = network == null ? Integer.MAX_VALUE : network.getMTU();
        for (PathMtu each : List.of(PathMtu.values()).reversed()) {
            if (each.bytes() <= bytes - HEADERS) {
                return each;
            }
        }
        throw OpenFailure.of(
                Errno.EINVAL,
                "the interface of " + address.getHostAddress() + " has an MTU of " + bytes + ", and RoCE needs "
                        + (PathMtu.MTU_256.bytes() + HEADERS) + " at least",
                null);
    }
}
