package io.rdmacomm.comm;

import io.rdmacomm.comm.setup.PrivateFile;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Collections;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/// TLS for the TCP connections over which endpoints and meshes are set up. It encrypts the data of the setup:
/// addresses, queue pair and packet numbers, tokens, proofs. Its certificates decide who may connect. All
/// later traffic (messages, WRITEs, READs and announced buffers) goes over RDMA and is not encrypted.
/// Immutable and thread-safe.
///
/// ```java
/// SessionOptions options = SessionOptions.defaults().withTls(Tls.of(sslContext));
/// ```
public final class Tls {
    private static final String STORE = "PKIX";
    private static final String HOST_NAMES = "HTTPS";
    private static final String ANY_HOST = "";
    private static final int MOST_PASSWORD_BYTES = 1024;

    private final SSLContext context;
    /// Holds the parameters, which are mutable, so each engine gets a copy.
    private final SSLEngine prototype;

    private Tls(SSLContext context, SSLParameters parameters) {
        this.context = context;
        this.prototype = context.createSSLEngine();
        prototype.setUseClientMode(true);
        prototype.setSSLParameters(parameters);
    }

    /// TLS 1.3 or 1.2 with the certificates of a context. Servers demand a certificate of clients, and clients check
    /// that the server's certificate is for the host that they connect to (RFC 9525).
    ///
    /// @param context with a key and the authorities that are trusted
    public static Tls of(SSLContext context) {
        SSLParameters parameters = context.getDefaultSSLParameters();
        parameters.setNeedClientAuth(true);
        return new Tls(context, parameters);
    }

    /// TLS with parameters of the caller, which are copied. Servers demand a certificate of clients if
    /// [SSLParameters#getNeedClientAuth()] is set. Clients check the host unless
    /// [SSLParameters#setEndpointIdentificationAlgorithm] selects another check, or an empty name for none.
    ///
    /// @throws IllegalArgumentException if the context does not support a protocol or cipher suite
    public static Tls of(SSLContext context, SSLParameters parameters) {
        return new Tls(context, parameters);
    }

    /// TLS as of [#of(SSLContext)] with the certificates in two files of type PKCS #12. Blocks.
    ///
    /// @param keys the key and the certificate of this side
    /// @param trusted the certificates of the authorities that are trusted
    /// @param password a file with the password of both, which only its owner may access; see [Secret#read]
    /// @throws IllegalArgumentException if one of the files cannot be used; the message says what to do
    public static Tls read(Path keys, Path trusted, Path password) {
        byte[] bytes = PrivateFile.read("password file", password, MOST_PASSWORD_BYTES);
        if (bytes.length > MOST_PASSWORD_BYTES) {
            throw new IllegalArgumentException(
                    "password file " + password + " has more than " + MOST_PASSWORD_BYTES + " bytes");
        }
        char[] text = new String(bytes, StandardCharsets.UTF_8).toCharArray();
        Arrays.fill(bytes, (byte) 0);
        try {
            KeyManagerFactory own = KeyManagerFactory.getInstance(STORE);
            own.init(store(keys, text, true), text);
            TrustManagerFactory others = TrustManagerFactory.getInstance(STORE);
            others.init(store(trusted, text, false));
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(own.getKeyManagers(), others.getTrustManagers(), null);
            return of(context);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("TLS with " + keys + " and " + trusted + ": " + e.getMessage(), e);
        } finally {
            Arrays.fill(text, '\0');
        }
    }

    /// @param withKey whether a key has to be in it; otherwise a certificate
    private static KeyStore store(Path file, char[] password, boolean withKey) throws GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, password);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "TLS file " + file + " cannot be read: " + (e.getMessage() == null ? e : e.getMessage())
                            + "; check its path, its owner and the password, and that it is of type PKCS #12",
                    e);
        }
        for (String alias : Collections.list(store.aliases())) {
            if (withKey ? store.isKeyEntry(alias) : store.isCertificateEntry(alias)) {
                return store;
            }
        }
        throw new IllegalArgumentException("TLS file " + file
                + (withKey
                        ? " has no key; export it with `openssl pkcs12 -export` or make one with `keytool -genkeypair`"
                        : " has no trusted certificate; add that of an authority with `keytool -importcert`"));
    }

    /// This TLS without the check that a server's certificate is for the host that a client connects to: any server
    /// with a certificate of a trusted authority is accepted. For meshes whose nodes have no names, and only if
    /// every holder of a certificate is trusted.
    public Tls withAnyHost() {
        SSLParameters parameters = prototype.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm(ANY_HOST);
        return new Tls(context, parameters);
    }

    /// A new engine for one connection.
    ///
    /// @param server the name and the port of the server to connect to; null for the server itself
    public SSLEngine engine(@Nullable InetSocketAddress server) {
        SSLParameters parameters = prototype.getSSLParameters();
        if (server == null) {
            // Only clients check host names; a server has no expected name to compare with.
            parameters.setEndpointIdentificationAlgorithm(null);
            SSLEngine engine = context.createSSLEngine();
            engine.setUseClientMode(false);
            engine.setSSLParameters(parameters);
            return engine;
        }
        if (parameters.getEndpointIdentificationAlgorithm() == null) {
            parameters.setEndpointIdentificationAlgorithm(HOST_NAMES);
        }
        SSLEngine engine = context.createSSLEngine(server.getHostString(), server.getPort());
        engine.setUseClientMode(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    @Override
    public String toString() {
        return "TLS";
    }
}
