package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A device that cannot be opened leaves nothing open. Here its folder's name is too long for a UNIX socket (unix(7)).
/// That comes to light after the control file, the port and the selector were made.
class OpenFailureTest {
    private static final String DIRECTORY = "rdmacomm.soft.directory";
    private static final int TIMES = 20;

    @Test
    void leavesNothingOpen(@TempDir Path base) throws IOException {
        Path folder = Files.createDirectory(base.resolve("long".repeat(25)));
        String before = System.setProperty(DIRECTORY, folder.toString());
        try {
            fail();
            long files = count(Path.of("/proc/self/fd"));
            for (int i = 0; i < TIMES; i++) {
                fail();
            }
            // Others in this JVM may open some.
            assertThat(count(Path.of("/proc/self/fd")) - files).isLessThan(TIMES);
            assertThat(folder).isEmptyDirectory();
            try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
                assertThat(maps).noneMatch(line -> line.contains(folder.toString()));
            }
        } finally {
            if (before == null) {
                System.clearProperty(DIRECTORY);
            } else {
                System.setProperty(DIRECTORY, before);
            }
        }
    }

    private static void fail() {
        Device device = Soft.device("soft1=127.0.0.1");
        assertThatThrownBy(device::open).isInstanceOf(VerbException.class);
    }

    private static long count(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        }
    }
}
