package io.rdmacomm.tests.nio;

import static io.rdmacomm.tests.nio.ChannelCases.add;
import static io.rdmacomm.tests.nio.ChannelCases.addPair;
import static io.rdmacomm.tests.nio.ChannelCases.bytes;
import static io.rdmacomm.tests.nio.ChannelCases.outcome;
import static io.rdmacomm.tests.nio.ChannelCases.result;
import static io.rdmacomm.tests.nio.ChannelCases.start;

import io.rdmacomm.tests.nio.ChannelCases.Started;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// Selectors with channels of all kinds.
final class SelectorCases {
    private SelectorCases() {}

    static void addAll() {
        readiness();
        wakeUps();
        keys();
    }

    private static void readiness() {
        add("selector.accepts", () -> {
            try (Selector selector = Selector.open();
                    ServerSocketChannel server = ChannelCases.listen()) {
                server.configureBlocking(false);
                SelectionKey key = server.register(selector, SelectionKey.OP_ACCEPT, "attachment");
                String before = selector.selectNow() + " " + server.accept();
                try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                    int ready = selector.select(10_000);
                    try (SocketChannel accepted = server.accept()) {
                        return before + " " + ready + " " + key.isAcceptable() + " " + key.attachment() + " "
                                + accepted.isBlocking() + " " + accepted.isConnected() + " "
                                + accepted.getRemoteAddress().equals(client.getLocalAddress());
                    }
                }
            }
        });
        add("selector.connects", () -> {
            try (Selector selector = Selector.open();
                    ServerSocketChannel server = ChannelCases.listen();
                    SocketChannel client = SocketChannel.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
                boolean connected = client.connect(server.getLocalAddress());
                if (!connected) {
                    selector.select(10_000);
                    connected = key.isConnectable() && client.finishConnect();
                }
                key.interestOps(SelectionKey.OP_WRITE);
                selector.selectedKeys().clear();
                return connected + " " + selector.select(10_000) + " " + key.isWritable() + " "
                        + client.isConnectionPending();
            }
        });
        addPair("selector.reads", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_READ);
                String result = selector.select(100) + " ";
                server.write(bytes("AB"));
                result += selector.select(10_000) + " " + selector.selectNow() + " "
                        + selector.selectedKeys().size();
                result += " " + client.read(ByteBuffer.allocate(1)) + " ";
                selector.selectedKeys().clear();
                result += selector.select(10_000) + " " + client.read(ByteBuffer.allocate(10)) + " "
                        + client.read(ByteBuffer.allocate(10)) + " ";
                selector.selectedKeys().clear();
                server.shutdownOutput();
                result += selector.select(10_000) + " " + key.readyOps() + " " + client.read(ByteBuffer.allocate(10));
                List<Integer> ready = new ArrayList<>();
                result += " " + selector.select(found -> ready.add(found.readyOps()), 10_000) + " " + ready;
                return result;
            }
        });
        addPair("selector.seesTheCloseOfThePeer", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_READ);
                server.close();
                return selector.select(10_000) + " " + key.isReadable() + " " + client.read(ByteBuffer.allocate(1));
            }
        });
        addPair("selector.seesItsOwnEnd", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_READ);
                client.shutdownInput();
                return selector.select(10_000) + " " + key.isReadable() + " " + client.read(ByteBuffer.allocate(1));
            }
        });
        addPair("selector.allKinds", (client, server) -> {
            try (Selector selector = Selector.open();
                    DatagramChannel datagrams = DatagramChannel.open().bind(ChannelCases.anyPort())) {
                Pipe pipe = Pipe.open();
                pipe.source().configureBlocking(false);
                datagrams.configureBlocking(false);
                client.configureBlocking(false);
                pipe.source().register(selector, SelectionKey.OP_READ);
                datagrams.register(selector, SelectionKey.OP_READ);
                client.register(selector, SelectionKey.OP_READ);
                server.write(bytes("A"));
                pipe.sink().write(bytes("A"));
                datagrams.send(bytes("A"), datagrams.getLocalAddress());
                while (selector.selectedKeys().size() < 3) {
                    selector.select(10_000);
                }
                pipe.sink().close();
                pipe.source().close();
                return selector.selectedKeys().size() + " " + selector.keys().size() + " " + selector.selectNow() + " "
                        + selector.keys().size();
            }
        });
    }

    private static void wakeUps() {
        add("selector.wakeup", () -> {
            try (Selector selector = Selector.open()) {
                Started selecting = start(() -> "" + selector.select()).awaitBlocked();
                selector.wakeup();
                String woken = result(selecting);
                selector.wakeup();
                return woken + " " + selector.select() + " " + selector.select(50);
            }
        });
        addPair("selector.interrupt", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_READ);
                Started selecting = start(() -> selector.select() + " " + Thread.interrupted())
                        .awaitBlocked();
                selecting.thread().interrupt();
                return result(selecting) + " " + selector.isOpen() + " " + client.isOpen();
            }
        });
        addPair("selector.close", (client, server) -> {
            Selector selector = Selector.open();
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_READ);
            Started selecting = start(() -> outcome(() -> selector.select())).awaitBlocked();
            selector.close();
            return result(selecting) + " " + key.isValid() + " " + client.isRegistered() + " "
                    + outcome(selector::keys) + " " + outcome(() -> selector.selectNow()) + " "
                    + outcome(selector::wakeup).isEmpty()
                    + " " + outcome(() -> client.register(selector, 1));
        });
        addPair("selector.channelIsClosed", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, SelectionKey.OP_READ);
                client.close();
                String closed = key.isValid() + " " + outcome(key::readyOps) + " " + selector.selectNow() + " "
                        + selector.keys().size() + " " + outcome(() -> key.interestOps());
                return closed + " " + server.read(ByteBuffer.allocate(1));
            }
        });
        addPair("selector.registersWhileAnotherSelects", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                server.configureBlocking(false);
                client.register(selector, SelectionKey.OP_READ);
                Started selecting =
                        start(() -> selector.select(1000) < 2 ? "" : "two").awaitBlocked();
                Started registering = start(() -> outcome(
                        () -> server.register(selector, SelectionKey.OP_WRITE).isValid()));
                return result(registering) + " " + result(selecting);
            }
        });
        addPair("selector.interestChanges", (client, server) -> {
            try (Selector selector = Selector.open()) {
                client.configureBlocking(false);
                SelectionKey key = client.register(selector, 0);
                server.write(bytes("A"));
                Started selecting = start(() -> "" + selector.select(10_000)).awaitBlocked();
                key.interestOps(SelectionKey.OP_READ);
                selector.wakeup();
                String first = result(selecting);
                return (first.equals("0") ? selector.select(10_000) : 1) + " " + key.interestOpsOr(4) + " "
                        + key.interestOpsAnd(1) + " " + outcome(() -> key.interestOps(SelectionKey.OP_ACCEPT));
            }
        });
        add("selector.arguments", () -> {
            try (Selector selector = Selector.open();
                    SocketChannel channel = SocketChannel.open()) {
                String blocking = outcome(() -> channel.register(selector, SelectionKey.OP_READ));
                channel.configureBlocking(false);
                return blocking + " " + outcome(() -> selector.select(-1)) + " "
                        + outcome(() -> channel.register(selector, SelectionKey.OP_ACCEPT)) + " "
                        + outcome(() -> channel.register(null, SelectionKey.OP_READ)) + " "
                        + outcome(() -> selector.selectedKeys().add(null)).split(":", 2)[0] + " "
                        + outcome(() -> selector.keys().clear()) + " " + outcome(() -> selector.select(null, 1)) + " "
                        + channel.provider().equals(selector.provider());
            }
        });
    }

    private static void keys() {
        addPair("selector.cancelThenBlock.socket", (client, server) -> cancelThenBlock(client, SelectionKey.OP_READ));
        add("selector.cancelThenBlock.server", () -> {
            try (ServerSocketChannel server = ChannelCases.listen()) {
                return cancelThenBlock(server, SelectionKey.OP_ACCEPT);
            }
        });
        add("selector.cancelThenBlock.datagrams", () -> {
            try (DatagramChannel datagrams = DatagramChannel.open()) {
                return cancelThenBlock(datagrams, SelectionKey.OP_READ);
            }
        });
        add("selector.cancelThenBlock.pipe", () -> {
            Pipe pipe = Pipe.open();
            try {
                return cancelThenBlock(pipe.source(), SelectionKey.OP_READ);
            } finally {
                pipe.source().close();
                pipe.sink().close();
            }
        });
    }

    private static String cancelThenBlock(SelectableChannel channel, int operation) throws Exception {
        try (Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, operation);
            selector.selectNow();
            String registered = outcome(() -> channel.configureBlocking(true)) + " " + channel.isRegistered() + " "
                    + key.equals(channel.keyFor(selector));
            key.cancel();
            String cancelled = outcome(() -> channel.configureBlocking(true).isBlocking()) + " "
                    + channel.isRegistered() + " " + outcome(() -> channel.register(selector, operation)) + " ";
            channel.configureBlocking(false);
            cancelled += outcome(() -> channel.register(selector, operation)) + " " + selector.selectNow() + " "
                    + channel.isRegistered() + " " + channel.keyFor(selector) + " ";
            return registered + " / " + cancelled
                    + channel.register(selector, operation).isValid() + " " + selector.selectNow() + " "
                    + selector.keys().size();
        }
    }
}
