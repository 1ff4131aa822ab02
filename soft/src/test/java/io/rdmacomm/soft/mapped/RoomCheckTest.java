package io.rdmacomm.soft.mapped;

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

    @Test
    void manySmallFilesAreCountedTogether() throws IOException {
        long free = Files.getFileStore(file).getUsableSpace();
        long piece = free / 1000;
        // Nothing is written, so each new reading finds the same room: none may fail.
        for (int i = 0; i < 2000; i++) {
            check.admit(file, piece);
        }
        rejects(free + TOO_MUCH);
    }
}
