package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The types of the GIDs of a port as the kernel shows them in files, for rdma-core before 32, which has no
/// ibv_query_gid_table(3).
final class GidTypeFiles {
    private static final String INFINIBAND_OR_ROCE_V1 = "IB/RoCE v1";
    private static final String ROCE_V2 = "RoCE v2";

    private final Path folder;

    /// @param port the folder of the port
    GidTypeFiles(Path port) {
        this.folder = port.resolve("gid_attrs").resolve("types");
    }

    /// The entries with their types, as far as there are files.
    ///
    /// @param infiniband whether the port is on InfiniBand, which has the same name there as RoCE version 1
    List<GidEntry> typed(List<GidEntry> entries, boolean infiniband) {
        return entries.stream()
                .map(entry -> new GidEntry(entry.index(), entry.gid(), type(entry.index(), infiniband)))
                .toList();
    }

    private GidType type(int index, boolean infiniband) {
        try {
            byte[] text = Files.readAllBytes(folder.resolve(Integer.toString(index)));
            return switch (new String(text, StandardCharsets.US_ASCII).strip()) {
                case INFINIBAND_OR_ROCE_V1 -> infiniband ? GidType.INFINIBAND : GidType.ROCE_V1;
                case ROCE_V2 -> GidType.ROCE_V2;
                default -> GidType.UNKNOWN;
            };
        } catch (IOException e) {
            return GidType.UNKNOWN; // an empty entry, or a kernel without these files
        }
    }
}
