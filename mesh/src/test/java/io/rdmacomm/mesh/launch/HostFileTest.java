package io.rdmacomm.mesh.launch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Host files in the styles of Open MPI and MPICH.
final class HostFileTest {
    @TempDir
    private Path folder;

    private Path file(String content) throws IOException {
        return Files.writeString(folder.resolve("hosts"), content);
    }

    @Test
    void hasANodeForEachSlot() throws IOException {
        HostFile read = HostFile.read(file("# racks\nnode1 slots=2\n\n  node2  # one\nnode3:3\nfd00::1\n10.0.0.4:1\n"));
        assertThat(read.hosts())
                .containsExactly("node1", "node1", "node2", "node3", "node3", "node3", "fd00::1", "10.0.0.4");
    }

    @Test
    void takesWhatOpenMpiWrites() throws IOException {
        HostFile read = HostFile.read(file("\ufeffnode1\tslots=2 max_slots=4\r\n[::1] slots=2\n[fd00::2]:1\n"));
        assertThat(read.hosts()).containsExactly("node1", "node1", "::1", "::1", "fd00::2");
    }

    @Test
    void aCommentMayHaveAnyEncoding() throws IOException {
        Path file = folder.resolve("hosts");
        Files.write(file, "# Knoten f\u00fcr alle\nnode1 # gro\u00df\n".getBytes(ISO_8859_1));
        assertThat(HostFile.read(file).hosts()).containsExactly("node1");
    }

    @Test
    void whatIsNotPrintableDoesNotReachATerminal() throws IOException {
        Path file = file("node\u001b]0;x\u0007\u009b\u202e a\u001b[2J\n");
        assertThatThrownBy(() -> HostFile.read(file))
                .hasMessageEndingWith("line 1: 'a?[2J' is not 'slots=N' or 'max_slots=N'");
        Path hosts = file("node\u001b\u009b\u202e\u2028\n");
        assertThat(HostFile.read(hosts).hosts()).allMatch(Printable::is);
    }

    @Test
    void knowsTheRanksOfThisHost() {
        HostFile read = new HostFile(List.of("a", "b", "a", "c"));
        assertThat(read.localRanks("a"::equals)).containsExactly(0, 2);
        assertThat(read.localRanks("d"::equals)).isEmpty();
    }

    @Test
    void nodesOfAFileMeetOnItsFirstHost() throws IOException {
        Path file = file("10.255.255.1\nlocalhost slots=2\n");

        List<MeetingPoint> here = HostFile.meetingPoints(file, 2030);

        assertThat(here).extracting(MeetingPoint::rank).containsExactly(1, 2);
        assertThat(here).extracting(MeetingPoint::size).containsOnly(3);
        assertThat(here).extracting(MeetingPoint::host).containsOnly("10.255.255.1");
        assertThat(here).extracting(MeetingPoint::source).containsOnly("host file " + file);
        assertThat(here).extracting(MeetingPoint::job).doesNotContain("").hasSize(2);
        Path other = file("10.255.255.1\nlocalhost slots=1\n");
        assertThat(HostFile.meetingPoints(other, 2030).getFirst().job())
                .isNotEqualTo(here.getFirst().job());
    }

    @Test
    void aFileWithoutThisHostIsRejected() throws IOException {
        Path file = file("10.255.255.1\n10.255.255.2\n");
        assertThatThrownBy(() -> HostFile.meetingPoints(file, 2030))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(file.toString(), "does not name this host");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a slots=0",
                "a slots=x",
                "a slots=513",
                "a max_slots=x",
                "a slots=3 max_slots=2",
                "a cores=2",
                "[::1",
                "[]",
                "[::1]2",
                "[::1]:0",
                "a:0",
                "a:x",
                "a b"
            })
    void aWrongLineIsNamed(String line) throws IOException {
        Path file = file("localhost\n" + line + "\n");
        assertThatThrownBy(() -> HostFile.read(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(file.toString(), "line 2");
    }

    @Test
    void anEmptyAMissingAndAHugeFileAreRejected() throws IOException {
        Path empty = file("# nothing\n");
        assertThatThrownBy(() -> HostFile.read(empty)).hasMessageContaining("names no host");
        assertThatThrownBy(() -> HostFile.read(folder.resolve("none"))).hasMessageContaining("does not exist");
        assertThatThrownBy(() -> HostFile.read(folder)).hasMessageContaining("cannot be read");
        Path many = file("a slots=400\nb slots=400\n");
        assertThatThrownBy(() -> HostFile.read(many)).hasMessageContaining("more than 512 nodes");
        Path huge = file("#".repeat(2 << 20));
        assertThatThrownBy(() -> HostFile.read(huge)).hasMessageContaining("bytes");
    }
}
