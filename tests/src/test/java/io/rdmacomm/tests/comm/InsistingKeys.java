package io.rdmacomm.tests.comm;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/// The first key of a store for every peer, whatever authorities it says that it trusts.
final class InsistingKeys extends X509ExtendedKeyManager {
    private final String alias;
    private final PrivateKey key;
    private final X509Certificate[] chain;

    InsistingKeys(KeyStore store, char[] password) throws GeneralSecurityException {
        this.alias = store.aliases().nextElement();
        this.key = (PrivateKey) store.getKey(alias, password);
        this.chain = Arrays.stream(store.getCertificateChain(alias))
                .map(X509Certificate.class::cast)
                .toArray(X509Certificate[]::new);
    }

    @Override
    public String[] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[] {alias};
    }

    @Override
    public String chooseClientAlias(String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return alias;
    }

    @Override
    public String chooseEngineClientAlias(
            String[] keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return alias;
    }

    @Override
    public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[] {alias};
    }

    @Override
    public String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return alias;
    }

    @Override
    public X509Certificate[] getCertificateChain(String ofAlias) {
        return chain;
    }

    @Override
    public PrivateKey getPrivateKey(String ofAlias) {
        return key;
    }
}
