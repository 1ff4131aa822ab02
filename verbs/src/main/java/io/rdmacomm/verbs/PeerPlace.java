package io.rdmacomm.verbs;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/// The address of a queue pair that a software device connects or sends to; see decision 42.
///
/// @param address the address of its device
/// @param port the port that the device listens on; for RoCE it needs no check
record PeerPlace(InetAddress address, int port) {
    /// The lowest port: those below are privileged, so no device listens there.
    private static final int FIRST_PORT = 1024;

    private static final int ROCE_PORT = 4791;

    /// @param lids whether the device has LIDs: a RoCE device has none, and sends to one port only
    static PeerPlace of(QueuePairInfo numbers, boolean lids) {
        return new PeerPlace(numbers.gid().address(), lids ? numbers.lid() : ROCE_PORT);
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
