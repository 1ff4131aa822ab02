package io.rdmacomm.tests.nio;

import static io.rdmacomm.tests.nio.ChannelCases.add;
import static io.rdmacomm.tests.nio.ChannelCases.addPair;
import static io.rdmacomm.tests.nio.ChannelCases.anyPort;
import static io.rdmacomm.tests.nio.ChannelCases.bytes;
import static io.rdmacomm.tests.nio.ChannelCases.outcome;
import static io.rdmacomm.tests.nio.ChannelCases.read;
import static io.rdmacomm.tests.nio.ChannelCases.result;
import static io.rdmacomm.tests.nio.ChannelCases.start;

import io.rdmacomm.tests.nio.ChannelCases.Started;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;

/// Binding, connecting, accepting, blocking calls, and the end of a connection.
final class ConnectionCases {
    private static final InetSocketAddress UNRESOLVED = InetSocketAddress.createUnresolved("nowhere.invalid", 1);

    private ConnectionCases() {}

    static void addAll() {
        connecting();
        binding();
        accepting();
        families();
        reading();
        theEnd();
        inherited();
    }

    private static void connecting() {
        add("connect.refused", () -> {
            InetSocketAddress gone;
            try (ServerSocketChannel server = ChannelCases.listen()) {
                gone = (InetSocketAddress) server.getLocalAddress();
            }
            try (SocketChannel channel = SocketChannel.open();
                    SocketChannel second = SocketChannel.open()) {
                return outcome(() -> channel.connect(gone)) + " " + channel.isOpen() + " "
                        + outcome(() -> second.socket().connect(gone, 5000)) + " " + second.isOpen();
            }
        });
        add("connect.wrongAddress", () -> {
            try (SocketChannel channel = SocketChannel.open()) {
                return outcome(() -> channel.connect(null)) + " " + outcome(() -> channel.connect(UNRESOLVED)) + " "
                        + outcome(() -> channel.connect(UnixDomainSocketAddress.of("x"))) + " " + channel.isOpen()
                        + " " + outcome(() -> channel.socket().connect(null)) + " "
                        + outcome(() -> channel.socket().connect(anyPort(), -1)) + " "
                        + outcome(() -> channel.socket().connect(UNRESOLVED)) + " " + channel.isOpen();
            }
        });
        addPair("connect.states", (client, server) -> {
            var address = server.getLocalAddress();
            String connected = outcome(() -> client.connect(address)) + " " + client.finishConnect() + " "
                    + outcome(() -> client.bind(anyPort())) + " "
                    + outcome(() -> client.socket().connect(address))
                    + " " + client.getRemoteAddress().equals(address);
            client.close();
            try (SocketChannel unconnected = SocketChannel.open()) {
                return connected + " " + outcome(() -> client.connect(address)) + " "
                        + outcome(client::finishConnect) + " " + outcome(client::getRemoteAddress) + " "
                        + outcome(client::shutdownInput) + " " + client.isConnected() + " / "
                        + outcome(unconnected::finishConnect) + " " + outcome(unconnected::shutdownInput) + " "
                        + outcome(() -> unconnected.read(ByteBuffer.allocate(1))) + " "
                        + outcome(() -> unconnected.write(ByteBuffer.allocate(1))) + " "
                        + unconnected.getLocalAddress() + " " + unconnected.getRemoteAddress();
            }
        });
        add("connect.timeout", () -> {
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(anyPort(), 1)) {
                // Nobody accepts, so at some point the backlog is full.
                for (int i = 0; i < 50; i++) {
                    SocketChannel channel = SocketChannel.open();
                    String connected = outcome(() -> channel.socket().connect(server.getLocalAddress(), 300));
                    if (!"done".equals(connected)) {
                        return connected + " " + channel.isOpen();
                    }
                }
                return "connected 50 times";
            }
        });
        add("connect.notBlocking", () -> {
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(anyPort(), 1);
                    SocketChannel channel = SocketChannel.open()) {
                channel.configureBlocking(false);
                return outcome(() -> channel.socket().connect(server.getLocalAddress(), 300)) + " " + channel.isOpen();
            }
        });
    }

    private static void binding() {
        add("bind.again", () -> {
            try (ServerSocketChannel server = ChannelCases.listen();
                    ServerSocketChannel other = ServerSocketChannel.open();
                    SocketChannel client = SocketChannel.open()) {
                return outcome(() -> server.bind(anyPort())) + " " + outcome(() -> other.bind(UNRESOLVED)) + " "
                        + outcome(() -> other.bind(UnixDomainSocketAddress.of("x"))) + " "
                        + outcome(() -> client.bind(anyPort()).bind(anyPort())) + " "
                        + outcome(() -> client.bind(UNRESOLVED)) + " "
                        + outcome(() -> server.socket().bind(anyPort())) + " "
                        + outcome(() -> client.socket().bind(anyPort()));
            }
        });
        add("bind.inUse", () -> {
            try (ServerSocketChannel server = ChannelCases.listen();
                    ServerSocketChannel other = ServerSocketChannel.open()) {
                String failed = outcome(() -> other.bind(server.getLocalAddress())) + " " + other.isOpen() + " "
                        + other.getLocalAddress() + " " + outcome(other::accept) + " "
                        + other.socket().isBound();
                // Servers try one port after another.
                other.bind(anyPort());
                try (SocketChannel client = SocketChannel.open(other.getLocalAddress());
                        SocketChannel accepted = other.accept()) {
                    return failed + " " + client.isConnected() + " " + accepted.isConnected();
                }
            }
        });
        add("bind.inUseLeavesNothing", () -> {
            try (ServerSocketChannel server = ChannelCases.listen();
                    ServerSocketChannel other = ServerSocketChannel.open();
                    SocketChannel client = SocketChannel.open()) {
                int before = descriptors();
                for (int i = 0; i < 50; i++) {
                    outcome(() -> other.bind(server.getLocalAddress()));
                    outcome(() -> client.bind(server.getLocalAddress()));
                }
                return "" + (descriptors() - before < 25);
            }
        });
        add("bind.wildcard", () -> {
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(null);
                    SocketChannel client = SocketChannel.open().bind(null)) {
                return ((InetSocketAddress) server.getLocalAddress()).getAddress() + " "
                        + ((InetSocketAddress) client.getLocalAddress()).getAddress() + " "
                        + server.socket().getInetAddress() + " "
                        + client.socket().getLocalAddress();
            }
        });
        add("bind.port", () -> {
            try (ServerSocketChannel server = ChannelCases.listen();
                    SocketChannel client = SocketChannel.open().bind(anyPort())) {
                var local = client.getLocalAddress();
                client.connect(server.getLocalAddress());
                try (SocketChannel accepted = server.accept()) {
                    return "" + client.getLocalAddress().equals(local)
                            + accepted.getRemoteAddress().equals(local);
                }
            }
        });
    }

    private static int descriptors() {
        String[] all = new File("/proc/self/fd").list();
        return all == null ? 0 : all.length;
    }

    private static void accepting() {
        add("accept.closed", () -> {
            ServerSocketChannel server = ChannelCases.listen();
            Started accepting = start(() -> String.valueOf(server.accept())).awaitBlocked();
            server.close();
            return result(accepting) + " " + outcome(server::accept) + " "
                    + outcome(() -> server.socket().accept())
                    + " " + outcome(server::getLocalAddress) + " " + outcome(() -> server.bind(anyPort())) + " "
                    + server.socket().isBound() + " " + server.socket().isClosed();
        });
        add("accept.interrupted", () -> {
            try (ServerSocketChannel server = ChannelCases.listen()) {
                Started accepting = start(() -> outcome(server::accept) + " " + Thread.interrupted())
                        .awaitBlocked();
                accepting.thread().interrupt();
                return result(accepting) + " " + server.isOpen();
            }
        });
        add("accept.socket", () -> {
            try (ServerSocketChannel server = ChannelCases.listen();
                    SocketChannel client = SocketChannel.open()) {
                ServerSocket socket = server.socket();
                socket.setSoTimeout(100);
                String late = outcome(socket::accept);
                client.connect(server.getLocalAddress());
                try (Socket accepted = socket.accept()) {
                    server.configureBlocking(false);
                    return late + " " + accepted.isConnected() + " " + (accepted.getChannel() != null) + " "
                            + outcome(socket::accept) + " " + outcome(server::accept) + " "
                            + accepted.getTcpNoDelay();
                }
            }
        });
        add("accept.unbound", () -> {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                return outcome(server::accept) + " "
                        + outcome(() -> server.socket().accept()) + " "
                        + server.getLocalAddress() + " " + server.socket().getLocalPort() + " "
                        + server.socket().getInetAddress() + " " + server.socket() + " "
                        + server.equals(server.socket().getChannel()) + " " + server.validOps();
            }
        });
        add("accept.inheritsOptions", () -> {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                server.setOption(StandardSocketOptions.SO_RCVBUF, 50_000).bind(anyPort());
                try (SocketChannel _ = SocketChannel.open(server.getLocalAddress());
                        SocketChannel accepted = server.accept()) {
                    return "" + accepted.getOption(StandardSocketOptions.SO_RCVBUF) + " "
                            + accepted.getOption(StandardSocketOptions.SO_REUSEADDR);
                }
            }
        });
    }

    private static void families() {
        add("family.ipv4", () -> {
            try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.INET);
                    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.INET);
                    SocketChannel second = SocketChannel.open(StandardProtocolFamily.INET)) {
                InetSocketAddress ipv6 = new InetSocketAddress(InetAddress.ofLiteral("::1"), 9);
                return outcome(() -> client.connect(ipv6)) + " " + outcome(() -> second.bind(ipv6)) + " "
                        + outcome(() -> server.bind(ipv6)) + " "
                        + outcome(() -> ((InetSocketAddress) second.bind(null).getLocalAddress()).getAddress()) + " "
                        + outcome(() -> ((InetSocketAddress) server.bind(null).getLocalAddress()).getAddress());
            }
        });
        add("family.ipv6", () -> {
            try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.INET6)) {
                return outcome(() -> ((InetSocketAddress) client.bind(null).getLocalAddress()).getAddress());
            }
        });
        add(
                "family.wrong",
                () -> outcome(() -> SocketChannel.open((StandardProtocolFamily) null)) + " "
                        + outcome(() -> ServerSocketChannel.open(null)) + " "
                        + outcome(() -> SocketChannel.open(() -> "OTHER")) + " "
                        + outcome(() -> ServerSocketChannel.open(() -> "OTHER")));
        add("family.unix", () -> {
            Path path = Path.of(
                    System.getProperty("java.io.tmpdir"),
                    "cases" + ProcessHandle.current().pid());
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                server.bind(UnixDomainSocketAddress.of(path));
                try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path));
                        SocketChannel accepted = server.accept()) {
                    client.write(bytes("A"));
                    return read(accepted, 1);
                }
            } finally {
                path.toFile().delete();
            }
        });
    }

    private static void reading() {
        addPair("read.arguments", (client, server) -> {
            ByteBuffer full = ByteBuffer.allocate(0);
            ByteBuffer constant = ByteBuffer.allocate(1).asReadOnlyBuffer();
            ByteBuffer[] one = {ByteBuffer.allocate(1)};
            return client.read(full) + " " + outcome(() -> client.read(constant)) + " "
                    + outcome(() -> client.read((ByteBuffer) null)) + " "
                    + outcome(() -> client.write((ByteBuffer) null)) + " "
                    + outcome(() -> client.read(one, 0, 2)) + " " + outcome(() -> client.write(one, -1, 1)) + " "
                    + outcome(() -> client.read(one, 0, 0)) + " " + client.write(full) + " "
                    + outcome(() -> client.write(one, 1, 0));
        });
        addPair("read.gathersAndScatters", (client, server) -> {
            ByteBuffer[] sources = {bytes("AB"), bytes(""), bytes("CDE")};
            ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocate(10)};
            long written = client.write(sources);
            client.shutdownOutput();
            long all = 0;
            for (long some = 0; some >= 0; some = server.read(targets)) {
                all += some;
            }
            return written + " " + all + " " + targets[0].position() + " " + targets[1].position();
        });
        addPair("read.blockedIsClosed", (client, server) -> {
            Started reading =
                    start(() -> "" + client.read(ByteBuffer.allocate(1))).awaitBlocked();
            client.close();
            return result(reading) + " " + outcome(() -> client.read(ByteBuffer.allocate(1)));
        });
        addPair("read.blockedIsInterrupted", (client, server) -> {
            Started reading = start(() -> outcome(() -> client.read(ByteBuffer.allocate(1))) + " "
                            + Thread.currentThread().isInterrupted())
                    .awaitBlocked();
            reading.thread().interrupt();
            return result(reading) + " " + client.isOpen();
        });
        addPair("read.blockedInVirtualThread", (client, server) -> {
            var task = new java.util.concurrent.FutureTask<>(() -> outcome(() -> client.read(ByteBuffer.allocate(1))));
            Thread thread = Thread.ofVirtual().start(task);
            Started reading = new Started(thread, task).awaitBlocked();
            thread.interrupt();
            return result(reading) + " " + client.isOpen();
        });
        addPair("write.blockedIsClosed", (client, server) -> {
            ChannelCases.fill(client);
            ByteBuffer many = ByteBuffer.allocateDirect(1 << 24);
            Started writing = start(() -> "" + client.write(many)).awaitBlocked();
            client.close();
            return result(writing);
        });
        addPair("configureBlocking.whileReading", (client, server) -> {
            Started reading =
                    start(() -> "" + client.read(ByteBuffer.allocate(1))).awaitBlocked();
            Started configuring = start(
                            () -> outcome(() -> client.configureBlocking(false).isBlocking()))
                    .awaitBlocked();
            String meanwhile = result(start(() -> outcome(() ->
                    client.setOption(StandardSocketOptions.TCP_NODELAY, true).isOpen())));
            server.write(bytes("A"));
            return meanwhile + " " + result(reading) + " " + result(configuring);
        });
    }

    private static void theEnd() {
        addPair("end.ofTheStream", (client, server) -> {
            client.write(bytes("A"));
            client.close();
            return read(server, 5) + " " + server.read(ByteBuffer.allocate(1));
        });
        addPair("end.reset", (client, server) -> {
            client.setOption(StandardSocketOptions.SO_LINGER, 0);
            client.close();
            return outcome(() -> server.read(ByteBuffer.allocate(1)));
        });
        addPair("end.shutdown", (client, server) -> {
            client.shutdownOutput();
            client.shutdownOutput();
            return server.read(ByteBuffer.allocate(1)) + " " + outcome(() -> client.write(ByteBuffer.allocate(1))) + " "
                    + server.write(bytes("A")) + " " + read(client, 1);
        });
    }

    private static void inherited() {
        add("provider", () -> {
            try (SocketChannel channel = SocketChannel.open()) {
                return SelectorProvider.provider().getClass().getName() + " "
                        + channel.provider().equals(SelectorProvider.provider()) + " "
                        + channel.getClass().getName();
            }
        });
        add("inheritedChannel", () -> {
            Channel channel = System.inheritedChannel();
            if (!(channel instanceof SocketChannel socket)) {
                return "" + channel;
            }
            ByteBuffer question = ByteBuffer.allocate(100);
            socket.read(question);
            socket.write(question.flip());
            return socket.isConnected() + " "
                    + channel.equals(SelectorProvider.provider().inheritedChannel());
        });
    }
}
