package io.rdmacomm.verbs;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/// The TCP address of a queue pair that a software device connects to; see decision 42.
///
/// @param address of its device
/// @param port that the device listens on
record PeerPlace(InetAddress address, int port) {
    /// Lower ports belong to the system; no device listens there.
    private static final int FIRST_PORT = 1024;

    static PeerPlace of(QueuePairInfo numbers) {
        return new PeerPlace(numbers.gid().address(), numbers.lid());
    }

    /// Whether a device of the host at `sender` can have this address.
    boolean isOf(InetAddress sender) {
        return port >= FIRST_PORT && (address.equals(sender) || (isHere(sender) && isHere(address)));
    }

    /// Whether this host has the address.
    private static boolean isHere(InetAddress address) {
        try {
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            // Unknown: only the sender's own address counts.
            return false;
        }
    }
}
