package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.Printable;
import java.util.Locale;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// Explains why a TLS handshake has failed, and what to do.
final class TlsFailures {
    private static final String ALERT = "Received fatal alert: ";

    private TlsFailures() {}

    /// The message, one line.
    ///
    /// @param peer the peer's name in messages
    /// @param ofServer whether this side is the server
    static String words(SSLException failure, String peer, boolean ofServer) {
        String message = String.valueOf(failure.getMessage());
        // Made printable, because it may quote a certificate.
        return "the TLS handshake with " + peer + " failed: " + Printable.text(deepest(failure)) + "; "
                + hint(message + " " + deepest(failure), ofServer);
    }

    /// The innermost message, which names the problem with the certificate.
    private static String deepest(Throwable failure) {
        @Nullable Throwable cause = failure.getCause();
        return cause == null ? String.valueOf(failure.getMessage()) : deepest(cause);
    }

    private static String hint(String message, boolean ofServer) {
        String words = message.toLowerCase(Locale.ROOT);
        if (message.contains(ALERT)) {
            return words.contains("certificate") || words.contains("unknown_ca")
                    ? "it rejects this side's certificate: this side needs one (--tls-keystore) that a CA in the other"
                            + " side's truststore has signed"
                            + (ofServer ? ", with the host name that clients use" : "")
                    : "it rejects this side's TLS: both sides need a common version and cipher suite";
        }
        if (words.contains("empty client certificate") || words.contains("empty certificate")) {
            return "give the client one that a CA in this side's truststore has signed (SessionOptions.withTls,"
                    + " --tls-keystore)";
        }
        if (words.contains("subject alternative") || words.contains("no name matching")) {
            return "connect to a name that is in the server's certificate, or give the server another one"
                    + " (--tls-keystore)";
        }
        return words.contains("cert") || words.contains("pkix")
                ? "the other side's certificate has to be valid and signed by a CA in this side's truststore"
                        + " (SessionOptions.withTls, --tls-truststore)"
                : "check certificates and TLS versions of both sides";
    }
}
