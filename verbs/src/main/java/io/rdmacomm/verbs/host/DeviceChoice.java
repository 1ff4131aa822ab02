package io.rdmacomm.verbs.host;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Opens a device for a program that does not specify one. Hardware comes before software. Of the devices
/// that have the needed capability and an active port, this takes the first whose port has the address that
/// this machine uses for the peer ([Context#hasAddress]), or else the first.
public final class DeviceChoice {
    private static final int SOFTWARE = 0;
    private static final int HARDWARE = 2;
    private static final int HAS_ADDRESS = 1;

    private final int port;
    private final Capability needed;
    private final InetAddress local;
    private final List<String> complaints = new ArrayList<>();
    private @Nullable OpenPort best;
    private int bestRank = -1;

    private DeviceChoice(int port, Capability needed, InetAddress local) {
        this.port = port;
        this.needed = needed;
        this.local = local;
    }

    /// Opens one of [Rdma#devices()]; a single one is opened regardless of its capabilities.
    ///
    /// @param port the port that must be active; with 1, another port of a device is taken if that one has the
    ///        address
    /// @param needed the required capability
    /// @param local the source address of this machine toward the peer, called only if there are several
    ///        devices; the wildcard address if it is unknown
    /// @throws VerbException if there is no such device, it cannot be opened, or none of several can be used; the
    ///         message says why
    public static OpenPort open(int port, Capability needed, Supplier<InetAddress> local) {
        List<Device> devices = Rdma.devices();
        if (devices.isEmpty()) {
            return new OpenPort(Rdma.open(), port);
        }
        return open(devices, port, needed, local);
    }

    /// Opens one of some devices; a single one is opened regardless of its capabilities.
    ///
    /// @param devices at least one, hardware before software
    /// @throws VerbException if none can be used
    public static OpenPort open(List<Device> devices, int port, Capability needed, Supplier<InetAddress> local) {
        if (devices.size() == 1) {
            return new OpenPort(devices.getFirst().open(), port);
        }
        DeviceChoice choice = new DeviceChoice(port, needed, local.get());
        boolean complete = false;
        try {
            for (Device device : devices) {
                choice.consider(device);
            }
            complete = true;
        } finally {
            if (!complete) {
                choice.replaceBest(null, 0);
            }
        }
        OpenPort best = choice.best;
        if (best == null) {
            throw new VerbException(
                    "choose a device", Errno.ENODEV, "no device can be used: " + String.join("; ", choice.complaints));
        }
        return best;
    }

    /// The source address of this machine in packets to a peer, for [#open]. Looks it up in the routing
    /// table; nothing is sent.
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

    private void consider(Device device) {
        int kind = device.isSoftware() ? SOFTWARE : HARDWARE;
        if (kind + HAS_ADDRESS <= bestRank) {
            return;
        }
        Context context;
        try {
            context = device.open();
        } catch (VerbException e) {
            complaints.add(e.getMessage());
            return;
        }
        boolean kept = false;
        try {
            kept = keep(context, kind);
        } catch (VerbException e) {
            complaints.add(e.getMessage());
        } finally {
            if (!kept) {
                context.close();
            }
        }
    }

    /// Whether the device is the best so far.
    private boolean keep(Context context, int kind) {
        int holder = port == 1 ? portWithAddress(context) : 0;
        int number = holder > 0 ? holder : port;
        String complaint = complaint(context, number);
        if (!complaint.isEmpty()) {
            complaints.add(complaint);
            return false;
        }
        int rank = kind + (context.hasAddress(number, local) ? HAS_ADDRESS : 0);
        if (rank <= bestRank) {
            return false;
        }
        replaceBest(new OpenPort(context, number), rank);
        return true;
    }

    /// The first active port that has the address; 0 for none.
    private int portWithAddress(Context context) {
        int ports = local.isAnyLocalAddress() ? 0 : context.attributes().ports();
        for (int number = 1; number <= ports; number++) {
            if (context.port(number).state() == PortState.ACTIVE && context.hasAddress(number, local)) {
                return number;
            }
        }
        return 0;
    }

    /// The reason why `context` cannot be used; empty if it can.
    private String complaint(Context context, int number) {
        PortState state = context.port(number).state();
        if (state != PortState.ACTIVE) {
            return "port " + number + " of " + context + " is " + state;
        }
        return context.supports(needed) ? "" : context + " does not support " + needed;
    }

    private void replaceBest(@Nullable OpenPort by, int rank) {
        OpenPort before = best;
        best = by;
        bestRank = rank;
        if (before != null) {
            before.context().close();
        }
    }
}
