package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileNameTest {
    @TempDir
    private Path root;

    @Test
    void anyBytesSurviveAsText() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = new byte[random.nextInt(12)];
            random.nextBytes(bytes);

            String text = FileName.decode(bytes);

            assertThat(FileName.encode(text)).as("seed %d", seed).isEqualTo(bytes);
        }
    }

    @Test
    void textInUtf8IsItself() {
        String text = "\u00dcbung \ud83d\ude00";

        assertThat(FileName.decode(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(text);
        assertThat(FileName.encode(text)).isEqualTo(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aFileHasTheNameThatItWasGiven() throws IOException {
        String name = FileName.decode(new byte[] {'b', (byte) 0xff, '\n', '%', 'x', (byte) 0xc3, (byte) 0xbc});
        Path file = FileName.child(root, name);
        Files.writeString(file, "content");

        assertThat(FileName.of(file)).endsWith("/" + name);
        assertThat(FileName.path(FileName.of(file))).hasContent("content");
        try (DirectoryStream<Path> content = Files.newDirectoryStream(root)) {
            Path found = content.iterator().next();
            assertThat(FileName.of(found.getFileName())).isEqualTo(name);
        }
    }
}
