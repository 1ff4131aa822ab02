package io.rdmacomm.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;

/// An open device and its port to use, for a program that does not name a device.
///
/// Hardware comes before software. Of the devices that have the needed capability and an active port, this is the
/// first whose port has the address that this machine uses for the peer ([Context#hasAddress]), or else the first:
///
/// ```
/// InetAddress local = DeviceChoice.localAddress(peer);
/// DeviceChoice choice = DeviceChoice.open(1, Capability.CONNECT_BY_NUMBERS, () -> local);
/// try (Context context = choice.context()) {
///     PortAttributes port = context.port(choice.port());
/// }
/// ```
///
/// @param context the open device, which the caller closes
/// @param port the port, counted from 1
public record DeviceChoice(Context context, int port) {
    /// Opens one of [Rdma#devices()]; a single one is opened regardless of its capabilities. If there are several,
    /// it opens each of them for a moment. Thread-safe.
    ///
    /// @param port the port that must be active; with 1, another port of a device is taken if that one has the
    ///        address
    /// @param needed the required capability
    /// @param local the source address of this machine toward the peer ([#localAddress]), called only if there are
    ///        several devices; the wildcard address if it is unknown
    /// @throws VerbException ENODEV if there is no device, or none of several can be used, or the errno of opening
    ///         the only one; the message says why
    public static DeviceChoice open(int port, Capability needed, Supplier<InetAddress> local) {
        List<Device> devices = Rdma.devices();
        if (devices.isEmpty()) {
            return new DeviceChoice(Rdma.open(), port);
        }
        return open(devices, port, needed, local);
    }

    /// Opens one of some devices; otherwise the same as [#open(int, Capability, Supplier)].
    ///
    /// @param devices at least one, hardware before software
    /// @throws IllegalArgumentException if there are no devices
    public static DeviceChoice open(List<Device> devices, int port, Capability needed, Supplier<InetAddress> local) {
        return switch (devices.size()) {
            case 0 -> throw new IllegalArgumentException("there are no devices to choose from");
            case 1 -> new DeviceChoice(devices.getFirst().open(), port);
            default -> DeviceSearch.best(devices, port, needed, local.get());
        };
    }

    /// The source address of this machine in packets to a peer, for [#open]. Looks it up in the routing table;
    /// nothing is sent. Does not block. Thread-safe.
    ///
    /// @return the wildcard address if the peer's name has no address, or there is no route to it
    public static InetAddress localAddress(InetSocketAddress peer) {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(peer);
            return socket.getLocalAddress();
        } catch (IOException | UncheckedIOException e) {
            // Connecting will also fail and report the reason.
            return new InetSocketAddress(0).getAddress();
        }
    }
}
