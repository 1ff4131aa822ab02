package io.rdmacomm.nio;

import io.rdmacomm.nio.channel.AddressRouter;
import io.rdmacomm.nio.channel.AddressRules;
import io.rdmacomm.nio.channel.Decisions;
import io.rdmacomm.nio.channel.Family;
import io.rdmacomm.nio.channel.RdmaSelector;
import io.rdmacomm.nio.channel.RdmaServerSocketChannel;
import io.rdmacomm.nio.channel.RdmaSocketChannel;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A provider whose socket channels are rsockets for some addresses, and TCP sockets of the JDK for all others. Its
/// selectors take both. Datagrams, pipes and Unix domain sockets are those of the JDK. Thread-safe.
///
/// A program passes it explicitly, for example to Netty. Or the whole JVM uses it: start it with the agent.
/// System properties configure one without arguments:
///
/// | property | meaning | default |
/// |---|---|---|
/// | `io.rdmacomm.nio.device` | the RDMA device | the first one |
/// | `io.rdmacomm.nio.rules` | which addresses are rsockets, see [#of] | `device` |
public final class RdmaSelectorProvider extends SelectorProvider implements AutoCloseable {
    static final String RULES = "io.rdmacomm.nio.rules";

    static final String DEVICE = "io.rdmacomm.nio.device";

    private final AddressRouter router;

    /// A provider that is configured by the system properties.
    ///
    /// @throws IllegalArgumentException if a rule is wrong; the message names it
    public RdmaSelectorProvider() {
        this(new AddressRouter(
                System.getProperty(DEVICE, ""),
                AddressRules.parse(System.getProperty(RULES, AddressRules.DEFAULT)),
                RdmaAgent.DECISIONS));
        JdkSockets.keep();
    }

    private RdmaSelectorProvider(AddressRouter router) {
        this.router = router;
    }

    /// A provider for a device. Opens the device when it is first needed, and keeps it open until [#close()].
    ///
    /// @param device the name of the RDMA device; empty for the first one
    /// @param rules which addresses are rsockets, separated by commas: `device` for those on the networks of the
    ///        device, `10.1.0.0/16`, `10.1.2.3:9092`, `[fe80::1]:9092`, `:9092`, or `*` for all. A rule that
    ///        begins with `!` excludes; one that begins with `?` tries RDMA, and TCP if that fails. The first
    ///        rule that matches decides
    /// @throws IllegalArgumentException if a rule is wrong; the message names it
    public static RdmaSelectorProvider of(String device, String rules) {
        return new RdmaSelectorProvider(new AddressRouter(device, AddressRules.parse(rules), new Decisions()));
    }

    @Override
    public AbstractSelector openSelector() {
        return new RdmaSelector(this);
    }

    @Override
    public SocketChannel openSocketChannel() {
        return new RdmaSocketChannel(this, router, Family.ANY);
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return isOfInternet(family)
                ? new RdmaSocketChannel(this, router, new Family(family))
                : SystemSockets.openSocket(family);
    }

    private static boolean isOfInternet(ProtocolFamily family) {
        return Objects.requireNonNull(family) == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() {
        return new RdmaServerSocketChannel(this, router, Family.ANY);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return isOfInternet(family)
                ? new RdmaServerSocketChannel(this, router, new Family(family))
                : SystemSockets.openServerSocket(family);
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return SystemSockets.openDatagramSocket();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return SystemSockets.openDatagramSocket(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return SystemSockets.openPipe();
    }

    @Override
    public @Nullable Channel inheritedChannel() throws IOException {
        return SystemSockets.inheritedChannel();
    }

    /// Closes the device. Its connections are reset, including closed ones that are still sending; its listening
    /// channels stop accepting. Channels of the JDK stay open.
    @Override
    public void close() {
        router.close();
    }
}
