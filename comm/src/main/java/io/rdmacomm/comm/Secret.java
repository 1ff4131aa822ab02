package io.rdmacomm.comm;

import io.rdmacomm.comm.setup.PrivateFile;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Bytes known only to the processes of one program. Sessions with [SessionOptions#withSecret] accept only
/// peers that have the same secret. Immutable; does not show its bytes.
///
/// A secret should be random: an attacker who listens on the network or poses as a server can guess offline.
public final class Secret {
    /// The minimum length in bytes.
    public static final int MIN_BYTES = 16;
    /// The maximum length in bytes.
    public static final int MAX_BYTES = 4096;

    /// HMAC with SHA-256 (RFC 2104, FIPS 180-4), which every Java platform has.
    private static final String ALGORITHM = "HmacSHA256";

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
    /// @param file a file that only its owner may access, where the file system has owners;
    ///         `openssl rand -hex 32` writes a good one. A process that is not root also takes a file of another
    ///         user that a group of the process may read, such as a Kubernetes volume with `fsGroup`
    /// @throws IllegalArgumentException if it cannot be read, others have access, or it is too short or too long;
    ///         the message says what to do
    public static Secret read(Path file) {
        return checked(PrivateFile.read("secret file", file, MAX_BYTES), "the secret in " + file);
    }

    private static Secret checked(byte[] bytes, String what) {
        if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException(what + " has "
                    + (bytes.length > MAX_BYTES ? "more than " + MAX_BYTES : bytes.length) + " bytes, must have "
                    + MIN_BYTES + " to " + MAX_BYTES + "; `openssl rand -hex 32` makes a good one");
        }
        return new Secret(bytes);
    }

    /// The message authentication code of `message`: HMAC-SHA-256, 32 bytes. Thread-safe.
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
