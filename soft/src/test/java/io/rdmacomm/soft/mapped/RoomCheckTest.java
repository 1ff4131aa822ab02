package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Admits files as long as there is room, without reading how much is left for each small one.
class RoomCheckTest {
    private static final long TOO_MUCH = 1L << 50;

    @TempDir
    private Path folder;

    private final RoomCheck check = new RoomCheck();
    private Path file;

    @BeforeEach
    void create() throws IOException {
        file = Files.createFile(Files.createDirectory(folder.resolve("context")).resolve("region"));
    }

    private void rejects(long bytes) {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> check.admit(file, bytes))
                .withMessageContaining("do not fit");
    }

    @Test
    void aLargeFileIsRejectedAlsoAfterSmallOnes() {
        for (int i = 0; i < 100; i++) {
            assertThatNoException().isThrownBy(() -> check.admit(file, 4096));
            rejects(TOO_MUCH);
        }
    }

    /// Ten small files use up what one reading admits.
    @Test
    void manySmallFilesAreCountedTogether() throws IOException {
        long room = 1L << 30;
        int[] readings = {0};
        RoomCheck counted = new RoomCheck() {
            @Override
            long left(Path of, long bytes) {
                readings[0]++;
                return room;
            }
        };
        for (int i = 0; i < 100; i++) {
            counted.admit(file, room / 2560);
        }
        // More only if that has taken more than a second.
        assertThat(readings[0]).isBetween(10, 99);
    }
}
