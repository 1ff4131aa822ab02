package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/// The checks of `rdmacomm doctor` on providers and devices. It opens each device and registers memory with it.
final class DeviceChecks {
    private static final String SOFTWARE = "soft";

    private DeviceChecks() {}

    static List<Finding> devices() {
        return Rdma.devices().stream().map(DeviceChecks::device).toList();
    }

    /// The additional checks of software devices with RoCE.
    static List<Finding> roce() {
        return Rdma.devices().stream()
                .filter(RoceChecks::isRoce)
                .flatMap(device -> roce(device).stream())
                .toList();
    }

    private static List<Finding> roce(Device device) {
        try (Context context = device.open()) {
            return RoceChecks.of(context);
        } catch (VerbException e) {
            return RoceChecks.unopened(device, e);
        }
    }

    static List<Finding> providers() {
        List<Finding> findings = new ArrayList<>();
        List<String> providers = Rdma.providerNames();
        if (providers.isEmpty()) {
            findings.add(Finding.fail("providers", "none", "add rdmacomm-soft to the class path"));
        } else {
            findings.add(Finding.ok("providers", String.join(", ", providers)));
        }
        for (String reason : Rdma.unavailable()) {
            findings.add(
                    Rdma.devices().isEmpty()
                            ? Finding.fail("provider", reason, "")
                            : Finding.warn("provider", reason, "no action required: other devices are available"));
        }
        return findings;
    }

    /// Where peers reach the software device. Unless it speaks RoCE, its GID is an IP address and its LID a TCP
    /// port.
    private static String reach(Device device, Gid gid, int lid) {
        if (!isSoftware(device)) {
            return "";
        }
        InetAddress address = gid.address();
        if (RoceChecks.isRoce(device)) {
            return address.isLoopbackAddress()
                    ? " (RoCE v2 on this host only; -Drdmacomm.soft.devices=" + device.name()
                            + "=ADDRESS?transport=roce binds it to another address)"
                    : " (RoCE v2)";
        }
        String where = ", listens on " + address.getHostAddress() + " TCP port " + lid;
        return address.isLoopbackAddress()
                ? where + " (reachable from this host only, except through the connection manager, which sessions then"
                        + " take; -Drdmacomm.soft.devices=" + device.name()
                        + "=ADDRESS binds it to another address)"
                : where;
    }

    static boolean isSoftware(Device device) {
        return device.provider().equals(SOFTWARE);
    }

    static Finding device(Device device) {
        String subject = "device " + device.name();
        try (Context context = device.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.allocate(1 << 20, EnumSet.of(AccessFlag.LOCAL_WRITE))) {
            StringBuilder text = new StringBuilder("opens, registers ").append(ByteSize.format(region.length()));
            for (int port = 1; port <= context.attributes().ports(); port++) {
                text.append(", ").append(port(context, port));
            }
            return ActivePorts.of(context).isEmpty()
                    ? Finding.warn(subject, text.toString(), "check the cable and the link: ip link, rdma link")
                    : Finding.ok(subject, text.toString());
        } catch (VerbException e) {
            return Finding.fail(subject, FailureText.of(e), "");
        }
    }

    private static String port(Context context, int number) {
        PortAttributes port = context.port(number);
        String text = "port " + number + " is " + port.state();
        if (port.gidTableLength() == 0) {
            return text;
        }
        int index = context.preferredGidIndex(number);
        Gid gid = context.gid(number, index);
        return text + ", GID " + index + " " + gid + reach(context.device(), gid, port.lid());
    }
}
