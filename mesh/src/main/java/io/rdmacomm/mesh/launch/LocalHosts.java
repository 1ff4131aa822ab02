package io.rdmacomm.mesh.launch;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;

/// Determines which names and addresses belong to this host.
final class LocalHosts {
    private LocalHosts() {}

    static boolean isLocal(InetAddress address) {
        try {
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    /// @param host a name or an address; the same name in another domain is another host
    static boolean isLocal(String host) {
        return isOwnName(host) || hasLocalAddress(host);
    }

    private static boolean isOwnName(String host) {
        try {
            String own = InetAddress.getLocalHost().getHostName();
            return own.equalsIgnoreCase(host) || firstLabel(own).equalsIgnoreCase(host);
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static String firstLabel(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    private static boolean hasLocalAddress(String host) {
        try {
            return Arrays.stream(InetAddress.getAllByName(host)).anyMatch(LocalHosts::isLocal);
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
