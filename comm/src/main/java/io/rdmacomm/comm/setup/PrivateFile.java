package io.rdmacomm.comm.setup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/// Reads a small file that only its owner may access.
public final class PrivateFile {
    private static final Set<PosixFilePermission> OWNER_ONLY = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private PrivateFile() {}

    /// Its content without the newline at its end. Blocks.
    ///
    /// @param what it is, for messages
    /// @param most the expected maximum length: of a longer file, more than so many bytes are returned, but
    ///         perhaps not all
    /// @throws IllegalArgumentException if it cannot be read, or other users have access; the message says
    ///         what to do
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
            // A file system without modes protects its files otherwise.
            return;
        }
        if (!OWNER_ONLY.containsAll(mode)) {
            throw new IllegalArgumentException(what + " " + file + " is accessible to other users: chmod 600 " + file);
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
