package io.rdmacomm.cli.command;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Tls;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options for which peers a command trusts.
public final class TrustOptions {
    private static final String SECRET_FILE = "--secret-file";
    private static final String KEYSTORE = "--tls-keystore";
    private static final String TRUSTSTORE = "--tls-truststore";
    private static final String PASSWORD_FILE = "--tls-password-file";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Spec
    private CommandSpec ownSpec = CommandSpec.create();

    @Option(
            names = SECRET_FILE,
            paramLabel = "FILE",
            description = "Talk only to peers with the same secret, at least 16 bytes: `openssl rand -hex 32 > FILE;"
                    + " chmod 600 FILE`, and copy it to all hosts.")
    private @Nullable Path secretFile;

    @Option(
            names = "--foreign-gids",
            description =
                    "For software devices behind an address translation or with several addresses: allow a peer to"
                            + " name another address than the one it connects from.")
    private boolean foreignGids;

    @Option(
            names = KEYSTORE,
            paramLabel = "FILE",
            description =
                    "Set connections up in TLS, with the key and certificate in this PKCS #12 file; both sides need"
                            + " TLS. RDMA itself is not encrypted.")
    private @Nullable Path keystore;

    @Option(
            names = TRUSTSTORE,
            paramLabel = "FILE",
            description = "The PKCS #12 file with the authorities that sign the peers' certificates.")
    private @Nullable Path truststore;

    @Option(
            names = PASSWORD_FILE,
            paramLabel = "FILE",
            description = "A file with the password of both stores, which only its owner may read.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--tls-any-host",
            description = "Accept servers whose certificates are for other hosts, if an authority in the truststore has"
                    + " signed them: the nodes of a mesh connect to addresses.")
    private boolean anyHost;

    /// Rejects all of these options.
    ///
    /// @param with what they cannot be combined with
    /// @throws ParameterException if one was given
    void exclude(String with) {
        Excludes.check(spec, with, ownSpec);
    }

    /// Adds the given options to `options`. Reads the files.
    ///
    /// @throws ParameterException if a file cannot be used; the message says what to do
    SessionOptions apply(SessionOptions options) {
        SessionOptions applied = options.withForeignGids(foreignGids);
        Path file = secretFile;
        if (file != null) {
            applied = applied.withSecret(read(SECRET_FILE, () -> Secret.read(file)));
        }
        Tls tls = tls();
        return tls == null ? applied : applied.withTls(tls);
    }

    private @Nullable Tls tls() {
        Path keys = keystore;
        Path trusted = truststore;
        Path password = passwordFile;
        if (keys == null && trusted == null && password == null && !anyHost) {
            return null;
        }
        if (keys == null || trusted == null || password == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "TLS needs " + KEYSTORE + ", " + TRUSTSTORE + " and " + PASSWORD_FILE
                            + ": give all three, or none");
        }
        Tls tls = read(KEYSTORE, () -> Tls.read(keys, trusted, password));
        return anyHost ? tls.withAnyHost() : tls;
    }

    private <T> T read(String option, Supplier<T> file) {
        try {
            return file.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }
}
