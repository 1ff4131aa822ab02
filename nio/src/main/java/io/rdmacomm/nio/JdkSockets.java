package io.rdmacomm.nio;

import io.rdmacomm.verbs.service.SystemSockets;
import java.nio.channels.spi.SelectorProvider;

/// Finds the JDK's own provider of channels, whose sockets carry the RDMA connections of the software device. It is
/// not [SelectorProvider#provider()] when ours serves the whole JVM.
final class JdkSockets {
    /// The system property that names the provider of the JVM.
    static final String PROVIDER = "java.nio.channels.spi.SelectorProvider";
    /// The package of the JDK's own provider.
    static final String PACKAGE = "sun.nio.ch";

    private JdkSockets() {}

    /// Makes rdmacomm use the JDK's provider if ours is that of the JVM.
    ///
    /// @throws IllegalStateException if the JDK does not allow it; the message says what to do
    static void keep() {
        if (RdmaSelectorProvider.class.getName().equals(System.getProperty(PROVIDER))) {
            SystemSockets.use(find());
        }
    }

    private static SelectorProvider find() {
        try {
            return (SelectorProvider) Class.forName(PACKAGE + ".DefaultSelectorProvider")
                    .getMethod("get")
                    .invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "the sockets of the JDK are hidden from " + RdmaSelectorProvider.class.getName()
                            + "; start the JVM with -javaagent:rdmacomm-nio.jar instead of the property " + PROVIDER
                            + ", or add --add-exports java.base/" + PACKAGE + "=ALL-UNNAMED",
                    e);
        }
    }
}
