package io.rdmacomm.comm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.util.ArrayList;
import java.util.List;

/// Opens a device: the named one, or else the first with the required capabilities, hardware before software.
public final class DeviceChoice {
    private DeviceChoice() {}

    /// Opens the device.
    ///
    /// @param name the device; empty to choose
    /// @param port the port that must be active, unless the device is named
    /// @param needed the required capabilities, unless the device is named
    /// @throws io.rdmacomm.verbs.VerbException if there is no such device or it cannot be opened
    /// @throws CommException if none of several can be used; the message says why
    public static Context open(String name, int port, Capability needed) {
        List<Device> devices = Rdma.devices();
        if (!name.isEmpty() || devices.size() <= 1) {
            return Rdma.open(name);
        }
        List<String> complaints = new ArrayList<>();
        for (Device device : devices) {
            try {
                Context context = device.open();
                String complaint = complaint(context, port, needed);
                if (complaint.isEmpty()) {
                    return context;
                }
                complaints.add(complaint);
            } catch (VerbException e) {
                complaints.add(String.valueOf(e.getMessage()));
            }
        }
        throw new CommException("no device can be used: " + String.join("; ", complaints), null);
    }

    /// The reason why `context` cannot be used; empty if it can.
    private static String complaint(Context context, int port, Capability needed) {
        boolean usable = false;
        try {
            PortState state = context.port(port).state();
            if (state != PortState.ACTIVE) {
                return "port " + port + " of " + context + " is " + state;
            }
            if (!context.supports(needed)) {
                return context + " cannot do " + needed;
            }
            usable = true;
            return "";
        } finally {
            if (!usable) {
                context.close();
            }
        }
    }
}
