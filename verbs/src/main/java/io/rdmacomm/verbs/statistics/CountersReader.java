package io.rdmacomm.verbs.statistics;

import io.rdmacomm.verbs.counters.file.CountersLayout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Reads one counters file, which may contain anything.
final class CountersReader {
    /// Reads are repeated, because a file may be rewritten while it is read.
    private static final int TRIES = 10;
    /// A live process writes every second, unless it is stopped.
    private static final long FORGOTTEN_MILLIS = 3_600_000;

    private CountersReader() {}

    /// @throws NoSuchFileException if its process has just ended
    /// @throws IOException if it cannot be read, or is not a counters file
    static PublishedProcess read(Path file) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                return CountersDecoder.decode(content(file));
            } catch (MalformedCountersException e) {
                if (tries == TRIES) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    /// Reads a file without mapping it: its owner may truncate it at any moment. Opening a pipe would block.
    private static byte[] content(Path file) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                    ? new IOException("not a regular file")
                    : new NoSuchFileException(file.toString());
        }
        try (InputStream in = Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            byte[] content = in.readNBytes(CountersLayout.MOST_BYTES + 1);
            if (content.length > CountersLayout.MOST_BYTES) {
                throw new MalformedCountersException("longer than a counters file");
            }
            return content;
        }
    }

    static boolean isForgotten(Path file) {
        try {
            long changed =
                    Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toMillis();
            return System.currentTimeMillis() - changed > FORGOTTEN_MILLIS;
        } catch (IOException e) {
            return false;
        }
    }
}
