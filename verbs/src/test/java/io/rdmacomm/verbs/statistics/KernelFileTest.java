package io.rdmacomm.verbs.statistics;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelFileTest {
    @TempDir
    private Path folder;

    private Path file(byte[] content) throws IOException {
        return Files.write(folder.resolve("file"), content);
    }

    @Test
    void aNameThatIsNotUtf8DoesNotHideTheOtherLines() throws IOException {
        assertThat(KernelFile.lines(file("/first\n/k\u00e4se\n/last\n".getBytes(ISO_8859_1))))
                .hasSize(3)
                .startsWith("/first")
                .endsWith("/last");
    }

    @Test
    void namesInUtf8AreKept() throws IOException {
        assertThat(KernelFile.lines(file("/k\u00e4se\n".getBytes(UTF_8)))).containsExactly("/k\u00e4se");
    }

    @Test
    void anEmptyOrAbsentFileHasNoLines() throws IOException {
        assertThat(KernelFile.lines(file(new byte[0]))).isEmpty();
        assertThat(KernelFile.lines(folder.resolve("absent"))).isEmpty();
    }
}
