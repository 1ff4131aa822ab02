package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/// Files of the kernel, whose size is wrong, and others.
final class SourceFileTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private Path kernelFile;

    @BeforeEach
    void findKernelFile() {
        kernelFile = Path.of("/proc/version");
        if (!Files.isReadable(kernelFile)) {
            System.out.println("SKIPPED, SourceFileTest: this system has no " + kernelFile);
            throw new TestAbortedException();
        }
    }

    private static byte[] content(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) channel.size());
        while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
            // Reads on.
        }
        assertThat(bytes.hasRemaining()).as("shorter than its size").isFalse();
        return bytes.array();
    }

    @Test
    void theSizeOfTheChannelIsWhatCanBeRead() throws IOException {
        assertThat(Files.size(kernelFile)).isZero();

        try (FileChannel channel = SourceFile.open(kernelFile)) {
            assertThat(content(channel)).isNotEmpty().isEqualTo(Files.readAllBytes(kernelFile));
        }
    }

    @Test
    void ordinaryFilesAreReadThemselves() throws IOException {
        for (int length : new int[] {0, 1, 4096}) {
            Path file = Files.write(folder.resolve("file"), new byte[length]);
            try (FileChannel channel = SourceFile.open(file, new SourceFile.Limits(0, LONG))) {
                Files.write(file, new byte[length + 1]);

                assertThat(channel.size()).isEqualTo(length + 1);
            }
        }
    }

    @Test
    void aWrongSizeAndTooMuchIsRefused() {
        assertThatThrownBy(() -> SourceFile.open(kernelFile, new SourceFile.Limits(3, LONG)))
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "its size is given as 0 bytes, but more than 3 can be read: save the part you need as a file");
    }
}
