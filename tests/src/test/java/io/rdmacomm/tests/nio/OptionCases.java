package io.rdmacomm.tests.nio;

import static io.rdmacomm.tests.nio.ChannelCases.add;
import static io.rdmacomm.tests.nio.ChannelCases.addPair;
import static io.rdmacomm.tests.nio.ChannelCases.anyPort;
import static io.rdmacomm.tests.nio.ChannelCases.bytes;
import static io.rdmacomm.tests.nio.ChannelCases.outcome;
import static io.rdmacomm.tests.nio.ChannelCases.read;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/// The options of channels and of their sockets, and urgent data.
final class OptionCases {
    private static final List<Object> VALUES = List.of(false, true, -5, -1, 0, 1, 100, 255, 256, 70_000);
    /// The system decides about their values, and rsockets have others.
    private static final Set<String> SIZES = Set.of("SO_RCVBUF", "SO_SNDBUF");
    /// The system sets it again when it likes (tcp(7)).
    private static final String NOT_PERMANENT = "TCP_QUICKACK";
    /// The options of rsockets.
    private static final Set<String> RSOCKETS = Set.of("MESSAGES", "MAPPINGS");

    private OptionCases() {}

    private interface Opener {
        NetworkChannel open() throws IOException;
    }

    static void addAll() {
        add("options.names", () -> {
            try (SocketChannel client = SocketChannel.open();
                    ServerSocketChannel server = ServerSocketChannel.open()) {
                return names(client, true) + " / " + names(server, true);
            }
        });
        ofChannel("client.unconnected", SocketChannel::open);
        ofChannel("client.bound", () -> SocketChannel.open().bind(anyPort()));
        ofChannel("server.unbound", ServerSocketChannel::open);
        ofChannel("server.bound", ChannelCases::listen);
        addPair("options.client.connected.values", (client, server) -> values(client));
        addPair("options.server.accepted.values", (client, server) -> values(server));
        addPair("options.client.connected.set", (client, server) -> setAll(client));
        addPair("options.server.accepted.set", (client, server) -> setAll(server));
        stay();
        wrong();
        ofSockets();
        urgentData();
    }

    private static List<String> names(NetworkChannel channel, boolean all) {
        return channel.supportedOptions().stream()
                .map(SocketOption::name)
                .filter(name -> all || !RSOCKETS.contains(name))
                .sorted()
                .toList();
    }

    private static void ofChannel(String name, Opener opener) {
        add("options." + name + ".values", () -> {
            try (NetworkChannel channel = opener.open()) {
                return values(channel);
            }
        });
        add("options." + name + ".set", () -> {
            try (NetworkChannel channel = opener.open()) {
                return setAll(channel);
            }
        });
        add("options." + name + ".closed", () -> {
            NetworkChannel channel = opener.open();
            channel.close();
            List<String> results = new ArrayList<>();
            for (SocketOption<?> option : sorted(channel)) {
                results.add(option.name() + " " + outcome(() -> channel.getOption(option)) + " "
                        + set(channel, option, 1) + " " + set(channel, option, true));
            }
            return results.toString();
        });
    }

    private static List<SocketOption<?>> sorted(NetworkChannel channel) {
        List<SocketOption<?>> options = new ArrayList<>(channel.supportedOptions());
        options.removeIf(option -> RSOCKETS.contains(option.name()));
        options.sort(Comparator.comparing(SocketOption::name));
        return options;
    }

    private static String values(NetworkChannel channel) {
        List<String> results = new ArrayList<>();
        for (SocketOption<?> option : sorted(channel)) {
            results.add(option.name() + " " + value(channel, option));
        }
        return results.toString();
    }

    private static String value(NetworkChannel channel, SocketOption<?> option) {
        return outcome(() ->
                SIZES.contains(option.name()) ? (Integer) channel.getOption(option) >= 0 : channel.getOption(option));
    }

    private static String set(NetworkChannel channel, SocketOption<?> option, Object value) {
        return outcome(() -> setUnchecked(channel, option, value));
    }

    @SuppressWarnings("unchecked")
    private static void setUnchecked(NetworkChannel channel, SocketOption<?> option, Object value) throws IOException {
        channel.setOption((SocketOption<Object>) option, value);
    }

    /// Each option with each value, also with those that it cannot have.
    private static String setAll(NetworkChannel channel) {
        List<String> results = new ArrayList<>();
        for (SocketOption<?> option : sorted(channel)) {
            StringBuilder all = new StringBuilder(option.name());
            for (Object value : VALUES) {
                all.append(' ').append(value).append(": ").append(set(channel, option, value));
                all.append(", ")
                        .append(option.name().equals(NOT_PERMANENT) ? "" : value(channel, option))
                        .append(';');
            }
            all.append(" null: ").append(set(channel, option, null));
            results.add(all.toString());
        }
        return results.toString();
    }

    /// What is set before the address is known holds afterwards.
    private static void stay() {
        add("options.stay.client", () -> {
            try (ServerSocketChannel server = ChannelCases.listen();
                    SocketChannel client = SocketChannel.open()) {
                for (SocketOption<?> option : sorted(client)) {
                    set(client, option, true);
                    set(client, option, 7);
                }
                client.connect(server.getLocalAddress());
                return values(client);
            }
        });
        add("options.stay.server", () -> {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                for (SocketOption<?> option : sorted(server)) {
                    set(server, option, true);
                    set(server, option, 7);
                }
                server.bind(anyPort());
                return values(server);
            }
        });
        add("options.twoServersAtOnePort", () -> {
            try (ServerSocketChannel first = ServerSocketChannel.open();
                    ServerSocketChannel second = ServerSocketChannel.open()) {
                first.setOption(StandardSocketOptions.SO_REUSEPORT, true).bind(anyPort());
                second.setOption(StandardSocketOptions.SO_REUSEPORT, true);
                return outcome(() -> second.bind(first.getLocalAddress()).isOpen());
            }
        });
    }

    private static void wrong() {
        add("options.unknown", () -> {
            SocketOption<Integer> unknown = new SocketOption<>() {
                @Override
                public String name() {
                    return "UNKNOWN";
                }

                @Override
                public Class<Integer> type() {
                    return Integer.class;
                }

                @Override
                public String toString() {
                    return name();
                }
            };
            try (SocketChannel client = SocketChannel.open();
                    ServerSocketChannel server = ServerSocketChannel.open()) {
                return outcome(() -> client.setOption(unknown, 1)) + " " + outcome(() -> client.getOption(unknown))
                        + " " + outcome(() -> server.setOption(unknown, 1)) + " "
                        + outcome(() -> server.getOption(unknown)) + " "
                        + outcome(() -> client.setOption(null, 1)) + " " + outcome(() -> client.getOption(null)) + " "
                        + outcome(() -> server.setOption(StandardSocketOptions.TCP_NODELAY, true)) + " "
                        + outcome(() -> client.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
            }
        });
    }

    private static void ofSockets() {
        add("options.socket", () -> {
            try (SocketChannel channel = SocketChannel.open()) {
                return socket(channel.socket());
            }
        });
        addPair("options.socket.connected", (client, server) -> socket(client.socket()));
        add("options.serverSocket", () -> {
            try (ServerSocketChannel channel = ServerSocketChannel.open()) {
                return serverSocket(channel.socket());
            }
        });
        add("options.serverSocket.bound", () -> {
            try (ServerSocketChannel channel = ChannelCases.listen()) {
                return serverSocket(channel.socket());
            }
        });
    }

    private static String socket(Socket socket) {
        List<String> results = new ArrayList<>();
        results.add(outcome(() -> socket.setTcpNoDelay(true)) + outcome(socket::getTcpNoDelay));
        results.add(outcome(() -> socket.setSoLinger(true, 3)) + outcome(socket::getSoLinger));
        results.add(outcome(() -> socket.setSoLinger(true, -3)) + outcome(socket::getSoLinger));
        results.add(outcome(() -> socket.setSoLinger(true, 100_000)) + outcome(socket::getSoLinger));
        results.add(outcome(() -> socket.setSoLinger(false, 3)) + outcome(socket::getSoLinger));
        results.add(outcome(() -> socket.setOOBInline(true)) + outcome(socket::getOOBInline));
        results.add(outcome(() -> socket.setOOBInline(false)) + outcome(socket::getOOBInline));
        results.add(outcome(() -> socket.setKeepAlive(true)) + outcome(socket::getKeepAlive));
        results.add(outcome(() -> socket.setTrafficClass(16)) + outcome(socket::getTrafficClass));
        results.add(outcome(() -> socket.setTrafficClass(256)));
        results.add(outcome(() -> socket.setReuseAddress(true)) + outcome(socket::getReuseAddress));
        results.add(outcome(() -> socket.setSendBufferSize(0)));
        results.add(outcome(() -> socket.setReceiveBufferSize(0)));
        results.add(outcome(() -> socket.setSendBufferSize(-1)));
        results.add(outcome(() -> socket.setPerformancePreferences(1, 2, 3)));
        results.add(outcome(() -> socket.supportedOptions().size() > 10));
        results.add(outcome(() -> socket.getOption(StandardSocketOptions.SO_REUSEPORT)));
        results.add(outcome(() -> socket.setOption(StandardSocketOptions.SO_REUSEPORT, true)
                .getOption(StandardSocketOptions.SO_REUSEPORT)));
        return results.toString();
    }

    private static String serverSocket(ServerSocket socket) {
        List<String> results = new ArrayList<>();
        results.add(outcome(socket::getReuseAddress));
        results.add(outcome(() -> socket.setReuseAddress(false)) + outcome(socket::getReuseAddress));
        results.add(outcome(() -> socket.setReceiveBufferSize(0)));
        results.add(outcome(() -> socket.setReceiveBufferSize(5000)));
        results.add(outcome(() -> socket.setSoTimeout(-1)));
        results.add(outcome(() -> socket.setSoTimeout(5)) + outcome(socket::getSoTimeout));
        results.add(outcome(() -> socket.setPerformancePreferences(1, 2, 3)));
        results.add(outcome(() -> socket.getOption(StandardSocketOptions.SO_REUSEPORT)));
        results.add(outcome(() -> socket.setOption(StandardSocketOptions.SO_REUSEPORT, true)
                .getOption(StandardSocketOptions.SO_REUSEPORT)));
        return results.toString();
    }

    private static void urgentData() {
        addPair("urgentData.inline", (client, server) -> {
            server.socket().setOOBInline(true);
            client.socket().sendUrgentData('U');
            client.write(bytes("A"));
            return read(server, 2);
        });
        addPair("urgentData.leftOut", (client, server) -> {
            client.socket().sendUrgentData('U');
            client.write(bytes("A"));
            InputStream input = server.socket().getInputStream();
            return "" + (char) input.read();
        });
        addPair("urgentData.closed", (client, server) -> {
            Socket socket = client.socket();
            socket.close();
            return outcome(() -> socket.sendUrgentData(1)) + " " + outcome(() -> socket.setOOBInline(true)) + " "
                    + outcome(socket::getOOBInline);
        });
        addPair("urgentData.outputIsShutDown", (client, server) -> {
            client.shutdownOutput();
            return outcome(() -> client.socket().sendUrgentData(1));
        });
    }
}
