package io.rdmacomm.verbs;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// The forms in which GID tables hold an IP address of this machine. On RoCE a GID is the address. On
/// InfiniBand it is the end of the hardware address of the IPoIB interface (RFC 4391, section 9.1.1). On
/// iWARP it is the hardware address of the network card, followed by zeros (`siw_query_gid`,
/// `irdma_query_gid`).
///
/// @param routed the address itself; [Gid#NONE] for none
/// @param port the GID of the InfiniBand or iWARP port under the interface, if there is one; [Gid#NONE] if the
///        interface has no hardware address
/// @param networkInterface the index of the interface (netdevice(7)); 0 if it is unknown
record LocalGids(Gid routed, Gid port, int networkInterface) {
    /// For no address: matches no table entry.
    static final LocalGids NONE = new LocalGids(Gid.NONE, Gid.NONE, 0);

    private static final Path INTERFACES = Path.of("/sys/class/net");
    private static final int INFINIBAND_ADDRESS = 20;
    private static final int GID_OFFSET = 4;
    private static final int ETHERNET_ADDRESS = 6;
    private static final int GID_BYTES = 16;

    /// @param address an address of this machine; the wildcard address for none
    static LocalGids of(InetAddress address) {
        if (address.isAnyLocalAddress()) {
            return NONE;
        }
        int scope = address instanceof Inet6Address ipv6 ? ipv6.getScopeId() : 0;
        NetworkInterface found = find(address, scope);
        return new LocalGids(
                Gid.of(address),
                found == null ? Gid.NONE : ofPort(INTERFACES.resolve(found.getName())),
                scope == 0 && found != null ? found.getIndex() : scope);
    }

    /// Several interfaces may have the same link-local address, which is derived from the hardware address: a
    /// VLAN has that of its parent interface. The scope distinguishes them.
    private static @Nullable NetworkInterface find(InetAddress address, int scope) {
        try {
            return scope == 0 ? NetworkInterface.getByInetAddress(address) : NetworkInterface.getByIndex(scope);
        } catch (SocketException e) {
            return null; // the system does not report it
        }
    }

    /// @param folder the kernel's folder for an interface
    static Gid ofPort(Path folder) {
        try {
            String text = Files.readString(folder.resolve("address"), StandardCharsets.US_ASCII)
                    .strip();
            byte[] bytes = HexFormat.ofDelimiter(":").parseHex(text);
            return switch (bytes.length) {
                case INFINIBAND_ADDRESS -> Gid.of(bytes, GID_OFFSET);
                case ETHERNET_ADDRESS -> Gid.of(Arrays.copyOf(bytes, GID_BYTES), 0);
                default -> Gid.NONE;
            };
        } catch (IOException | IllegalArgumentException e) {
            return Gid.NONE; // another system, or an interface without a hardware address
        }
    }

    /// Whether a table entry has the address.
    boolean areHeldBy(GidEntry entry) {
        return entry.gid().equals(routed) || isUnder(entry);
    }

    /// Whether the entry is of the InfiniBand or iWARP port under the interface.
    boolean isUnder(GidEntry entry) {
        return entry.type() == GidType.INFINIBAND && (isPort(entry) || isOnInterface(entry));
    }

    private boolean isPort(GidEntry entry) {
        return !port.equals(Gid.NONE) && entry.gid().equals(port);
    }

    /// Whether both interfaces are known and the same.
    boolean isOnInterface(GidEntry entry) {
        return networkInterface != 0 && entry.networkInterface() == networkInterface;
    }
}
