package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The types and network interfaces of a port's GIDs, read from the kernel's files. For rdma-core before 32, which
/// has no ibv_query_gid_table(3).
final class GidTypeFiles {
    private static final String INFINIBAND_OR_ROCE_V1 = "IB/RoCE v1";
    private static final String ROCE_V2 = "RoCE v2";

    private final Path types;
    private final Path interfaces;

    /// @param port the folder of the port
    GidTypeFiles(Path port) {
        this.types = port.resolve("gid_attrs").resolve("types");
        this.interfaces = port.resolve("gid_attrs").resolve("ndevs");
    }

    /// The entries with their types and interfaces, if there are files for them.
    ///
    /// @param infiniband whether the port is on InfiniBand: the files have the same name for it and RoCE version 1
    List<GidEntry> typed(List<GidEntry> entries, boolean infiniband) {
        return entries.stream()
                .map(entry -> new GidEntry(
                        entry.index(), entry.gid(), type(entry.index(), infiniband), networkInterface(entry.index())))
                .toList();
    }

    private GidType type(int index, boolean infiniband) {
        return switch (text(types, index)) {
            case INFINIBAND_OR_ROCE_V1 -> infiniband ? GidType.INFINIBAND : GidType.ROCE_V1;
            case ROCE_V2 -> GidType.ROCE_V2;
            default -> GidType.UNKNOWN;
        };
    }

    private int networkInterface(int index) {
        try {
            NetworkInterface found = NetworkInterface.getByName(text(interfaces, index));
            return found == null ? 0 : found.getIndex();
        } catch (SocketException e) {
            return 0; // the system does not report it
        }
    }

    /// The line for an entry; empty for an empty entry, or if the kernel does not have these files.
    private static String text(Path folder, int index) {
        try {
            byte[] text = Files.readAllBytes(folder.resolve(Integer.toString(index)));
            return new String(text, StandardCharsets.US_ASCII).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
