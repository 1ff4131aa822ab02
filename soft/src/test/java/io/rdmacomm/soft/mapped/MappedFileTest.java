package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Memory in a file that is mapped a second time, for sockets.
class MappedFileTest {
    private static final int BYTES = 1 << 20;
    private static final int FROM = 64 * 1024;

    private ShmDirectory directory;

    @BeforeEach
    void claim() throws IOException {
        directory = ShmDirectory.claim();
    }

    @AfterEach
    void close() throws IOException {
        directory.close();
    }

    @Test
    void bothMappingsShowTheSameMemory() throws IOException {
        try (MappedFile file = MappedFile.create(directory, "twice", BYTES)) {
            ByteBuffer again = file.map(FROM, BYTES - FROM);
            assertThat(again.remaining()).isEqualTo(BYTES - FROM);
            again.put(1, (byte) 42);
            assertThat(file.segment().get(ValueLayout.JAVA_BYTE, FROM + 1)).isEqualTo((byte) 42);
            file.segment().set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) 43);
            assertThat(again.get(BYTES - FROM - 1)).isEqualTo((byte) 43);
        }
    }

    /// The second mapping lasts until the garbage collector finds it, its memory does not.
    @Test
    void closingFreesTheMemoryAtOnce() throws IOException {
        ByteBuffer again = closed("held", true);
        assertThat(residentKilobytes("held")).isZero();
        assertThat(directory.file("held")).doesNotExist();
        assertThat(again.capacity()).isEqualTo(BYTES);
    }

    /// Without memory, a peer that was stopped in the middle of an operation would fail when it resumes.
    @Test
    void memoryInUseStays() throws IOException {
        ByteBuffer again = closed("used", false);
        assertThat(directory.file("used")).doesNotExist();
        assertThat(again.get(1)).isEqualTo((byte) 1);
    }

    private ByteBuffer closed(String name, boolean idle) throws IOException {
        MappedFile file = MappedFile.create(directory, name, BYTES);
        ByteBuffer again = file.map(0, BYTES);
        for (int i = 0; i < BYTES; i++) {
            again.put(i, (byte) i);
        }
        assertThat(residentKilobytes(name)).isGreaterThanOrEqualTo(BYTES / 1024);
        file.close(idle);
        return again;
    }

    @Test
    void aDeletedFileCanBeClosed() throws IOException {
        MappedFile file = MappedFile.create(directory, "lost", BYTES);
        file.map(0, BYTES);
        Files.delete(directory.file("lost"));
        file.close(true);
    }

    @Test
    void aDeletedFileCannotBeMappedAgain() throws IOException {
        MappedFile file = MappedFile.create(directory, "lost", BYTES);
        Files.delete(directory.file("lost"));
        assertThatThrownBy(() -> file.map(0, BYTES)).isInstanceOf(NoSuchFileException.class);
        file.close(true);
    }

    @Test
    void partsShareOneMapping() throws IOException {
        MappedFile file = MappedFile.create(directory, "parts", BYTES);
        ByteBuffer part = file.map(BYTES / 2, 8);
        part.put(3, (byte) 7);
        assertThat(part.capacity()).isEqualTo(8);
        assertThat(file.map(BYTES / 2 + 3, 1).get(0)).isEqualTo((byte) 7);
        assertThat(file.segment().get(ValueLayout.JAVA_BYTE, BYTES / 2 + 3)).isEqualTo((byte) 7);
        file.close(true);
    }

    /// How much of a file's memory is in this process (proc_pid_smaps(5), Rss).
    private long residentKilobytes(String name) throws IOException {
        long sum = 0;
        boolean inside = false;
        String path = directory.file(name).toString();
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (!Character.isUpperCase(line.charAt(0))) {
                inside = line.contains(path);
            } else if (inside && line.startsWith("Rss:")) {
                sum += Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return sum;
    }
}
