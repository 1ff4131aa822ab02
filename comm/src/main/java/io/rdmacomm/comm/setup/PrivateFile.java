package io.rdmacomm.comm.setup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/// Reads a small file that nobody but its owner may read.
public final class PrivateFile {
    private static final Set<PosixFilePermission> OWNER_ONLY = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private PrivateFile() {}

    /// Its content without the newline at its end. Blocks.
    ///
    /// @param what it is, for messages
    /// @param most how many bytes are of interest: if there are more, some of them are returned, and more than that
    /// @throws IllegalArgumentException if it cannot be read, or others than its owner have access; the message
    ///         says what to do
    public static byte[] read(String what, Path file, int most) {
        try {
            checkMode(what, file);
            try (InputStream in = Files.newInputStream(file)) {
                byte[] bytes = in.readNBytes(most + 3);
                return Arrays.copyOf(bytes, withoutNewline(bytes));
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    what + " " + file + " cannot be read: " + e.getClass().getSimpleName() + "; check its path and"
                            + " its owner",
                    e);
        }
    }

    private static void checkMode(String what, Path file) throws IOException {
        Set<PosixFilePermission> mode;
        try {
            mode = Files.getPosixFilePermissions(file);
        } catch (UnsupportedOperationException e) {
            // A file system without modes protects its files in another way.
            return;
        }
        if (!OWNER_ONLY.containsAll(mode)) {
            throw new IllegalArgumentException(
                    what + " " + file + " is open to others than its owner: chmod 600 " + file);
        }
    }

    private static int withoutNewline(byte[] bytes) {
        int length = bytes.length;
        if (length > 0 && bytes[length - 1] == '\n') {
            length--;
            if (length > 0 && bytes[length - 1] == '\r') {
                length--;
            }
        }
        return length;
    }
}
