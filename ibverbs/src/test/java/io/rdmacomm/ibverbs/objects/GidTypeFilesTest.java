package io.rdmacomm.ibverbs.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The types of GIDs that the kernel shows as files.
final class GidTypeFilesTest {
    private static final List<GidEntry> UNTYPED = IntStream.range(0, 4)
            .mapToObj(index -> new GidEntry(index, new Gid(1, index), GidType.UNKNOWN, 0))
            .toList();

    @TempDir
    private Path port;

    @BeforeEach
    void writeFiles() throws Exception {
        Path types = Files.createDirectories(port.resolve("gid_attrs").resolve("types"));
        Files.writeString(types.resolve("0"), "IB/RoCE v1\n");
        Files.writeString(types.resolve("1"), "RoCE v2\n");
        Files.writeString(types.resolve("2"), "RoCE v3\n");
    }

    @Test
    void aRocePortHasBothVersions() {
        assertThat(new GidTypeFiles(port).typed(UNTYPED, false))
                .extracting(GidEntry::type)
                .containsExactly(GidType.ROCE_V1, GidType.ROCE_V2, GidType.UNKNOWN, GidType.UNKNOWN);
    }

    @Test
    void anEntryHasTheInterfaceThatTheKernelNames() throws Exception {
        NetworkInterface own = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        Path interfaces = Files.createDirectories(port.resolve("gid_attrs").resolve("ndevs"));
        Files.writeString(interfaces.resolve("0"), own.getName() + "\n");
        Files.writeString(interfaces.resolve("1"), "none.7\n");
        assertThat(new GidTypeFiles(port).typed(UNTYPED, false))
                .extracting(GidEntry::networkInterface)
                .containsExactly(own.getIndex(), 0, 0, 0);
    }

    @Test
    void anInfinibandPortIsNotTakenForRoce() {
        assertThat(new GidTypeFiles(port).typed(UNTYPED, true))
                .first()
                .extracting(GidEntry::type)
                .isEqualTo(GidType.INFINIBAND);
    }

    @Test
    void withoutFilesTheTypesAreUnknown() {
        assertThat(new GidTypeFiles(port.resolve("nowhere")).typed(UNTYPED, false))
                .isEqualTo(UNTYPED);
    }
}
