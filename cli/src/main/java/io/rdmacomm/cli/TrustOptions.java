package io.rdmacomm.cli;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.SessionOptions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// Which peers a command talks to.
final class TrustOptions {
    private static final String SECRET_FILE = "--secret-file";
    private static final String FOREIGN_GIDS = "--foreign-gids";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = SECRET_FILE,
            paramLabel = "FILE",
            description = "Talk only to peers with the same secret, at least 16 bytes: `openssl rand -hex 32 > FILE;"
                    + " chmod 600 FILE`, and copy it to all hosts.")
    private @Nullable Path secretFile;

    @Option(
            names = FOREIGN_GIDS,
            description =
                    "For software devices behind an address translation or with several addresses: allow a peer to"
                            + " name another address than the one it connects from.")
    private boolean foreignGids;

    /// Adds what was given to `options`. Reads the file.
    ///
    /// @throws ParameterException if it cannot be used; the message says what to do
    SessionOptions apply(SessionOptions options) {
        SessionOptions trusting = foreignGids ? options.withForeignGids(true) : options;
        Path file = secretFile;
        if (file == null) {
            return trusting;
        }
        try {
            return trusting.withSecret(Secret.read(file));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), SECRET_FILE + ": " + e.getMessage(), e);
        }
    }

    /// Rejects both options.
    ///
    /// @param reason what they do not fit with
    /// @throws ParameterException if one was given
    void reject(String reason) {
        if (secretFile != null || foreignGids) {
            throw new ParameterException(
                    spec.commandLine(),
                    (secretFile == null ? FOREIGN_GIDS : SECRET_FILE) + " has no meaning with " + reason
                            + ": leave it out");
        }
    }
}
