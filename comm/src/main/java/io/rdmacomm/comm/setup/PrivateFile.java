package io.rdmacomm.comm.setup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads a small file that only its owner may access, or that another user has made readable for a group of this
/// process. In this way, with `fsGroup` (mode 0440), Kubernetes provides a secret to a process that is not root.
public final class PrivateFile {
    private static final Set<PosixFilePermission> OWNER_ONLY = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);
    private static final String NUMBERS = "unix:uid,gid";

    private PrivateFile() {}

    /// Its content without the newline at its end. Blocks.
    ///
    /// @param what it is, for messages
    /// @param most the expected maximum length; for a longer file, more than this many bytes are returned, but
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
            // A file system without modes protects its files in another way.
            return;
        }
        if (!OWNER_ONLY.containsAll(mode) && !(isReadableForGroup(mode) && isForGroupOfThisProcess(file))) {
            throw new IllegalArgumentException(what + " " + file + " is accessible to other users: chmod 600 " + file);
        }
    }

    private static boolean isReadableForGroup(Set<PosixFilePermission> mode) {
        Set<PosixFilePermission> more = EnumSet.copyOf(mode);
        more.removeAll(OWNER_ONLY);
        return more.equals(EnumSet.of(PosixFilePermission.GROUP_READ));
    }

    private static boolean isForGroupOfThisProcess(Path file) {
        try {
            Map<String, Object> numbers = Files.readAttributes(file, NUMBERS);
            return ProcessUser.current().needsGroup(unsigned(numbers.get("uid")), unsigned(numbers.get("gid")));
        } catch (IOException | UnsupportedOperationException _) {
            return false; // The system does not tell.
        }
    }

    /// A number of a user or group, which has 32 bits.
    private static long unsigned(@Nullable Object number) {
        return number instanceof Integer value ? Integer.toUnsignedLong(value) : -1;
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
