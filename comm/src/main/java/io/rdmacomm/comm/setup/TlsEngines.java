package io.rdmacomm.comm.setup;

import java.net.InetSocketAddress;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/// Makes the TLS engine of each connection. Thread-safe.
@FunctionalInterface
public interface TlsEngines {
    /// A new engine.
    ///
    /// @param server the name and the port of the server to connect to; null for the server itself
    SSLEngine engine(@Nullable InetSocketAddress server);
}
