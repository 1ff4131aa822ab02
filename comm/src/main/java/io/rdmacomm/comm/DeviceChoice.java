package io.rdmacomm.comm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;

/// Opens the device of a session: the one that is named, or else the first that could carry it, hardware before
/// software.
final class DeviceChoice {
    private DeviceChoice() {}

    /// @param name the device; empty to choose
    /// @param port the port that has to be active
    static Context open(String name, int port) {
        List<Device> devices = Rdma.devices();
        if (!name.isEmpty() || devices.size() <= 1) {
            return Rdma.open(name);
        }
        List<String> complaints = new ArrayList<>();
        for (Device device : devices) {
            try {
                Context context = device.open();
                String complaint = complaint(context, port);
                if (complaint.isEmpty()) {
                    return context;
                }
                complaints.add(complaint);
            } catch (RdmaException e) {
                complaints.add(String.valueOf(e.getMessage()));
            }
        }
        throw new CommException("no device can be used: " + String.join("; ", complaints), null);
    }

    /// Why a session cannot use `context`; empty if it can.
    private static String complaint(Context context, int port) {
        boolean usable = false;
        try {
            PortState state = context.port(port).state();
            if (state != PortState.ACTIVE) {
                return "port " + port + " of " + context + " is " + state;
            }
            if (!context.supports(Capability.CONNECT_BY_NUMBERS)) {
                return context + " connects only through a connection manager";
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
