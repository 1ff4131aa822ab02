package io.rdmacomm.verbs;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Looks for the best of several devices, and opens it; see [DeviceChoice].
final class DeviceSearch {
    private static final int SOFTWARE = 0;
    private static final int HARDWARE = 2;
    private static final int HAS_ADDRESS = 1;

    private final int port;
    private final Capability needed;
    private final InetAddress local;
    private final List<String> complaints = new ArrayList<>();
    private @Nullable DeviceChoice best;
    private int bestRank = -1;

    private DeviceSearch(int port, Capability needed, InetAddress local) {
        this.port = port;
        this.needed = needed;
        this.local = local;
    }

    /// @throws VerbException if none of them can be used
    static DeviceChoice best(List<Device> devices, int port, Capability needed, InetAddress local) {
        DeviceSearch search = new DeviceSearch(port, needed, local);
        boolean complete = false;
        try {
            for (Device device : devices) {
                search.consider(device);
            }
            complete = true;
        } finally {
            if (!complete) {
                search.replaceBest(null, 0);
            }
        }
        DeviceChoice best = search.best;
        if (best == null) {
            throw new VerbException(
                    "choose a device", Errno.ENODEV, "no device can be used: " + String.join("; ", search.complaints));
        }
        return best;
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
        replaceBest(new DeviceChoice(context, number), rank);
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

    private void replaceBest(@Nullable DeviceChoice by, int rank) {
        DeviceChoice before = best;
        best = by;
        bestRank = rank;
        if (before != null) {
            before.context().close();
        }
    }
}
