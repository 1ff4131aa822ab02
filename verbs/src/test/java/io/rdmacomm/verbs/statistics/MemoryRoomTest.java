package io.rdmacomm.verbs.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The files of the kernel are made by hand here; `ContainerMemoryTest` uses real control groups.
class MemoryRoomTest {
    private static final long MIB = 1 << 20;

    @TempDir
    Path folder;

    private Path machine(long kilobytes) throws IOException {
        return Files.writeString(
                folder.resolve("meminfo"), "MemTotal: 99 kB\nMemAvailable:   " + kilobytes + " kB\nBuffers: 1 kB\n");
    }

    private Path group(String name, Map<String, String> files) throws IOException {
        Path group = Files.createDirectories(folder.resolve(name));
        for (Map.Entry<String, String> file : files.entrySet()) {
            Files.writeString(group.resolve(file.getKey()), file.getValue() + "\n");
        }
        return group;
    }

    @Test
    void withoutGroupsTheMachineCounts() throws IOException {
        assertThat(MemoryRoom.left(machine(2048), List.of())).isEqualTo(new MemoryRoom(2 * MIB, "the machine"));
        assertThat(MemoryRoom.left(folder.resolve("nothing"), List.of()).bytes())
                .as("without /proc")
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aLimitOfVersion2Counts() throws IOException {
        Path group = group("pod", Map.of("memory.max", "400", "memory.current", "150"));
        MemoryRoom room = MemoryRoom.left(machine(2048), List.of(group));
        assertThat(room.bytes()).isEqualTo(250);
        assertThat(room.isOfGroup()).isTrue();
        assertThat(room.owner()).isEqualTo(group.resolve("memory.max").toString());
    }

    @Test
    void aLimitOfVersion1Counts() throws IOException {
        Path group = group("pod", Map.of("memory.limit_in_bytes", "400", "memory.usage_in_bytes", "150"));
        assertThat(MemoryRoom.left(machine(2048), List.of(group)).bytes()).isEqualTo(250);
    }

    /// A group is seldom without pages of files that it has read.
    @Test
    void whatTheKernelTakesBackIsNoUse() throws IOException {
        String stat = "anon 100\nactive_file 20\ninactive_file 25\nshmem 7\nslab_reclaimable 5\nslab 9";
        Path second = group("second", Map.of("memory.max", "400", "memory.current", "390", "memory.stat", stat));
        assertThat(MemoryRoom.left(machine(2048), List.of(second)).bytes()).isEqualTo(60);
        String older = "cache 50\nactive_file 1\ninactive_file 1\ntotal_active_file 20\ntotal_inactive_file 25";
        Path first = group(
                "first", Map.of("memory.limit_in_bytes", "400", "memory.usage_in_bytes", "390", "memory.stat", older));
        assertThat(MemoryRoom.left(machine(2048), List.of(first)).bytes()).isEqualTo(55);
    }

    @Test
    void theTightestLimitCountsOwnOrAbove() throws IOException {
        Path above = group("slice", Map.of("memory.max", "500", "memory.current", "480"));
        Path own = group("slice/pod", Map.of("memory.max", "400", "memory.current", "150"));
        assertThat(MemoryRoom.left(machine(2048), List.of(own, above)))
                .isEqualTo(new MemoryRoom(20, above.resolve("memory.max").toString()));
    }

    @Test
    void aGroupWithoutALimitDoesNotCount() throws IOException {
        Path second = group("second", Map.of("memory.max", "max", "memory.current", "150"));
        Path first =
                group("first", Map.of("memory.limit_in_bytes", "9223372036854771712", "memory.usage_in_bytes", "4096"));
        Path without = group("without", Map.of());
        assertThat(MemoryRoom.left(machine(2048), List.of(second, first, without))
                        .owner())
                .isEqualTo("the machine");
    }

    @Test
    void moreThanTheLimitIsNoRoom() throws IOException {
        Path group = group("pod", Map.of("memory.max", "400", "memory.current", "450"));
        assertThat(MemoryRoom.left(machine(2048), List.of(group)).bytes()).isZero();
    }

    @Test
    void thisMachineHasSome() {
        assertThat(MemoryRoom.left().bytes()).isPositive();
    }
}
