package io.rdmacomm.tests.nio;

import static io.rdmacomm.tests.nio.ChannelCases.add;
import static io.rdmacomm.tests.nio.ChannelCases.addPair;
import static io.rdmacomm.tests.nio.ChannelCases.bytes;
import static io.rdmacomm.tests.nio.ChannelCases.outcome;
import static io.rdmacomm.tests.nio.ChannelCases.read;
import static io.rdmacomm.tests.nio.ChannelCases.result;
import static io.rdmacomm.tests.nio.ChannelCases.start;

import io.rdmacomm.tests.nio.ChannelCases.Started;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/// The streams of [Channels] and of the `socket()` adaptors.
final class StreamCases {
    private StreamCases() {}

    private interface Streams {
        InputStream input(SocketChannel channel) throws Exception;

        OutputStream output(SocketChannel channel) throws Exception;
    }

    private static final Streams OF_CHANNELS = new Streams() {
        @Override
        public InputStream input(SocketChannel channel) {
            return Channels.newInputStream(channel);
        }

        @Override
        public OutputStream output(SocketChannel channel) {
            return Channels.newOutputStream(channel);
        }
    };

    private static final Streams OF_SOCKET = new Streams() {
        @Override
        public InputStream input(SocketChannel channel) throws Exception {
            return channel.socket().getInputStream();
        }

        @Override
        public OutputStream output(SocketChannel channel) throws Exception {
            return channel.socket().getOutputStream();
        }
    };

    static void addAll() {
        of("channels.", OF_CHANNELS);
        of("socket.", OF_SOCKET);
        ofChannelsOnly();
        ofSocketsOnly();
    }

    private static void of(String prefix, Streams streams) {
        addPair(prefix + "writesWhileAnotherThreadReads", (client, server) -> {
            Started reading =
                    start(() -> String.valueOf(streams.input(client).read())).awaitBlocked();
            Started writing = start(() -> outcome(() -> streams.output(client).write(7)));
            String wrote = result(writing);
            String other = "done".equals(wrote) ? "" + (int) read(server, 1).charAt(0) : "";
            server.write(bytes("A"));
            return wrote + " " + other + " " + result(reading);
        });
        addPair(prefix + "bytes", (client, server) -> {
            streams.output(client).write("hello, world".getBytes(StandardCharsets.US_ASCII), 2, 5);
            server.write(bytes("answer"));
            server.shutdownOutput();
            InputStream input = streams.input(client);
            return read(server, 5) + " " + input.read() + " "
                    + new String(input.readNBytes(2), StandardCharsets.US_ASCII) + " "
                    + new String(input.readAllBytes(), StandardCharsets.US_ASCII) + " " + input.read() + " "
                    + input.read(new byte[3]);
        });
        addPair(prefix + "nothingToDo", (client, server) -> {
            server.write(bytes("A"));
            InputStream input = streams.input(client);
            return input.read(new byte[0]) + " " + outcome(() -> input.read(null, 0, 1)) + " "
                    + outcome(() -> input.read(new byte[2], 1, 2)) + " "
                    + outcome(() -> streams.output(client).write(null, 0, 1)) + " "
                    + outcome(() -> streams.output(client).write(new byte[2], 1, 2)) + " "
                    + outcome(() -> streams.output(client).write(new byte[0]));
        });
        addPair(prefix + "notBlocking", (client, server) -> {
            InputStream input = streams.input(client);
            OutputStream output = streams.output(client);
            client.configureBlocking(false);
            return outcome(() -> input.read()) + " " + outcome(() -> output.write(1)) + " "
                    + outcome(() -> output.write(new byte[0])) + " " + outcome(input::available);
        });
        addPair(prefix + "closed", (client, server) -> {
            InputStream input = streams.input(client);
            OutputStream output = streams.output(client);
            input.close();
            return client.isOpen() + " " + outcome(() -> input.read()) + " " + outcome(() -> output.write(1)) + " "
                    + outcome(input::available) + " " + outcome(output::close);
        });
        addPair(prefix + "closedByTheOutput", (client, server) -> {
            streams.output(client).close();
            return client.isOpen() + " " + server.read(bytes("A"));
        });
        addPair(prefix + "closedWhileReading", (client, server) -> {
            Started reading =
                    start(() -> String.valueOf(streams.input(client).read())).awaitBlocked();
            client.close();
            return result(reading);
        });
        addPair(prefix + "closedWhileWriting", (client, server) -> {
            ChannelCases.fill(client);
            byte[] many = new byte[1 << 24];
            Started writing = start(() -> outcome(() -> streams.output(client).write(many)))
                    .awaitBlocked();
            client.close();
            return result(writing);
        });
        addPair(prefix + "interruptedWhileReading", (client, server) -> {
            Started reading = start(() -> outcome(() -> streams.input(client).read()) + " "
                            + Thread.currentThread().isInterrupted())
                    .awaitBlocked();
            reading.thread().interrupt();
            return result(reading) + " " + client.isOpen();
        });
        addPair(prefix + "interruptedBefore", (client, server) -> {
            InputStream input = streams.input(client);
            Thread.currentThread().interrupt();
            return outcome(() -> input.read()) + " " + Thread.interrupted() + " " + client.isOpen();
        });
        addPair(prefix + "inputIsShutDown", (client, server) -> {
            InputStream input = streams.input(client);
            client.shutdownInput();
            return outcome(() -> input.read()) + " " + outcome(input::available);
        });
        addPair(prefix + "inputIsShutDownWhileReading", (client, server) -> {
            Started reading =
                    start(() -> String.valueOf(streams.input(client).read())).awaitBlocked();
            client.shutdownInput();
            return result(reading);
        });
        addPair(prefix + "outputIsShutDown", (client, server) -> {
            OutputStream output = streams.output(client);
            client.shutdownOutput();
            return outcome(() -> output.write(1)) + " " + streams.input(server).read();
        });
        addPair(prefix + "available", (client, server) -> {
            server.write(bytes("ABCDE"));
            InputStream input = streams.input(client);
            int first = input.read();
            return first + " " + input.available();
        });
        addPair(prefix + "skip", (client, server) -> {
            server.write(bytes("ABCDE"));
            InputStream input = streams.input(client);
            return input.skip(2) + " " + input.read();
        });
        addPair(prefix + "configureBlockingWhileReading", (client, server) -> {
            Started reading =
                    start(() -> String.valueOf(streams.input(client).read())).awaitBlocked();
            Started configuring = start(() ->
                            outcome(() -> client.configureBlocking(false)).replaceAll("SocketChannel.*", "channel"))
                    .awaitBlocked();
            Started closing = start(() -> outcome(client::close));
            String closed = result(closing);
            return closed + " " + result(reading) + " " + (result(configuring).length() > 0);
        });
    }

    private static void ofChannelsOnly() {
        add("channels.beforeConnect", () -> {
            try (ServerSocketChannel listening = ChannelCases.listen();
                    SocketChannel client = SocketChannel.open()) {
                InputStream input = Channels.newInputStream(client);
                OutputStream output = Channels.newOutputStream(client);
                String before = outcome(() -> input.read()) + " " + outcome(() -> output.write(1));
                client.connect(listening.getLocalAddress());
                try (SocketChannel server = listening.accept()) {
                    output.write(65);
                    String other = read(server, 1);
                    server.write(bytes("B"));
                    return before + " " + other + input.read();
                }
            }
        });
        add(
                "channels.noChannel",
                () -> outcome(() -> Channels.newInputStream((SocketChannel) null)) + " "
                        + outcome(() -> Channels.newOutputStream((SocketChannel) null)));
        addPair("channels.withoutTheTimeoutOfTheSocket", (client, server) -> {
            client.socket().setSoTimeout(50);
            Started reading = start(
                            () -> String.valueOf(Channels.newInputStream(client).read()))
                    .awaitBlocked();
            server.write(bytes("A"));
            return result(reading);
        });
        addPair("channels.readerAndWriter", (client, server) -> {
            var reader = Channels.newReader(client, StandardCharsets.UTF_8);
            Started reading = start(() -> "" + (char) reader.read()).awaitBlocked();
            var writer = Channels.newWriter(client, StandardCharsets.UTF_8);
            writer.write("ask");
            writer.flush();
            String other = read(server, 3);
            server.write(bytes("B"));
            return other + " " + result(reading);
        });
    }

    private static void ofSocketsOnly() {
        addPair("socket.timeout", (client, server) -> {
            Socket socket = client.socket();
            socket.setSoTimeout(100);
            InputStream input = socket.getInputStream();
            String late = outcome(() -> input.read());
            server.write(bytes("A"));
            socket.setSoTimeout(0);
            return late + " " + input.read() + " " + socket.getSoTimeout() + " "
                    + outcome(() -> socket.setSoTimeout(-1));
        });
        addPair("socket.states", (client, server) -> {
            Socket socket = client.socket();
            String open = socket.isConnected() + " " + socket.isBound() + " " + socket.isClosed() + " "
                    + socket.isInputShutdown() + " " + socket.isOutputShutdown();
            socket.shutdownInput();
            socket.shutdownOutput();
            String shut = socket.isInputShutdown() + " " + socket.isOutputShutdown() + " "
                    + outcome(socket::getInputStream) + " " + outcome(socket::getOutputStream) + " "
                    + outcome(socket::shutdownInput);
            socket.close();
            return open + " / " + shut + " / " + socket.isConnected() + " " + socket.isBound() + " "
                    + socket.isClosed() + " " + outcome(socket::getInputStream) + " "
                    + outcome(() -> socket.getPort() > 0) + " " + outcome(() -> socket.getLocalPort() > 0) + " "
                    + socket.getLocalAddress() + " " + outcome(socket::shutdownInput) + " "
                    + outcome(socket::getSoTimeout) + " " + outcome(socket::getTcpNoDelay);
        });
        add("socket.unconnected", () -> {
            try (SocketChannel channel = SocketChannel.open()) {
                Socket socket = channel.socket();
                return socket.isConnected() + " " + socket.isBound() + " " + socket.getPort() + " "
                        + socket.getLocalPort() + " " + socket.getInetAddress() + " " + socket.getLocalAddress() + " "
                        + socket.getRemoteSocketAddress() + " " + socket.getLocalSocketAddress() + " " + socket + " "
                        + outcome(socket::getInputStream) + " " + outcome(socket::shutdownOutput) + " "
                        + outcome(() -> socket.sendUrgentData(1)) + " " + channel.equals(socket.getChannel());
            }
        });
    }
}
