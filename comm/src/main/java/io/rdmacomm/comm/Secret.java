package io.rdmacomm.comm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Bytes that all sides of a program share and nobody else knows. Sessions with
/// [SessionOptions#withSecret] talk only to those that have the same. Immutable; does not show its bytes.
///
/// A secret should be random: whoever listens on the network or poses as a server may try words at leisure.
public final class Secret {
    /// The fewest bytes.
    public static final int MIN_BYTES = 16;
    /// The most bytes.
    public static final int MAX_BYTES = 4096;

    /// HMAC with SHA-256 (RFC 2104, FIPS 180-4), which every Java platform has.
    private static final String ALGORITHM = "HmacSHA256";

    private static final Set<PosixFilePermission> OWNER_ONLY = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private final SecretKeySpec key;

    private Secret(byte[] bytes) {
        this.key = new SecretKeySpec(bytes, ALGORITHM);
    }

    /// A secret of these bytes, which are copied.
    ///
    /// @throws IllegalArgumentException if there are fewer than [#MIN_BYTES] or more than [#MAX_BYTES]
    public static Secret of(byte[] bytes) {
        return checked(bytes, "the secret");
    }

    /// The secret in a file, without the newline at its end. Blocks.
    ///
    /// @param file which only its owner may read, where the file system knows that; `openssl rand -hex 32` writes
    ///         a good one
    /// @throws IllegalArgumentException if it cannot be read, others than its owner have access, or it is too
    ///         short or too long; the message says what to do
    public static Secret read(Path file) {
        byte[] bytes;
        try {
            checkMode(file);
            try (InputStream in = Files.newInputStream(file)) {
                bytes = in.readNBytes(MAX_BYTES + 3);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "secret file " + file + " cannot be read: " + e.getClass().getSimpleName() + "; check its path and"
                            + " its owner",
                    e);
        }
        return checked(Arrays.copyOf(bytes, withoutNewline(bytes)), "the secret in " + file);
    }

    private static void checkMode(Path file) throws IOException {
        Set<PosixFilePermission> mode;
        try {
            mode = Files.getPosixFilePermissions(file);
        } catch (UnsupportedOperationException e) {
            // A file system without modes protects its files in another way.
            return;
        }
        if (!OWNER_ONLY.containsAll(mode)) {
            throw new IllegalArgumentException(
                    "secret file " + file + " is open to others than its owner: chmod 600 " + file);
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

    private static Secret checked(byte[] bytes, String what) {
        if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException(what + " has "
                    + (bytes.length > MAX_BYTES ? "more than " + MAX_BYTES : bytes.length) + " bytes, must have "
                    + MIN_BYTES + " to " + MAX_BYTES + "; `openssl rand -hex 32` makes a good one");
        }
        return new Secret(bytes);
    }

    /// The code by which another who has the secret recognizes that `message` comes from one who has it:
    /// HMAC-SHA-256, 32 bytes. Thread-safe.
    public byte[] authenticate(byte[] message) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac.doFinal(message);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java platform has no " + ALGORITHM, e);
        }
    }

    @Override
    public String toString() {
        return "a secret";
    }
}
