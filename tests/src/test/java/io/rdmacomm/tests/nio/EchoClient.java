package io.rdmacomm.tests.nio;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A connection to an [EchoServer]: random bytes that come back, and a random end.
public final class EchoClient {
    private enum Close {
        /// When all bytes are back.
        QUIET,
        /// Ends its own stream first, and reads the rest.
        HALF,
        /// While bytes are on their way.
        EARLY,
        /// The same, with a reset.
        RESET
    }

    private static final int MOST_TURNS = 8;
    private static final int MOST_BYTES = 20_000;
    private static final int WAIT_SECONDS = 60;

    private final InetSocketAddress address;
    private final Random random;
    private final EchoServer.End serverEnd;
    private final Close close;
    private final int turns;
    private long compared;

    private EchoClient(int port, Random random) {
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        this.random = random;
        EchoServer.End[] ends = EchoServer.End.values();
        // Most connections must survive what happens to the others.
        this.serverEnd = random.nextInt(3) > 0 ? EchoServer.End.ORDERLY : ends[random.nextInt(ends.length)];
        this.close = Close.values()[random.nextInt(Close.values().length)];
        this.turns = random.nextInt(MOST_TURNS);
    }

    /// One connection of a channel: a blocking one, or one in the selector of `own`.
    ///
    /// @param own has the device of this side
    /// @param port of the server, which may be another one
    /// @return how many bytes were compared
    /// @throws IOException if the connection failed, although neither side had a reason to end it
    public static long run(EchoServer own, int port, Random random) throws Exception {
        return random.nextBoolean() ? runBlocking(own.provider(), port, random) : runInSelector(own, port, random);
    }

    private static long runBlocking(SelectorProvider provider, int port, Random random) throws IOException {
        EchoClient client = new EchoClient(port, random);
        try (SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(client.address);
            client.talk(channel);
        } catch (IOException e) {
            client.unlessEnded(e);
        }
        return client.compared;
    }

    private void unlessEnded(IOException failure) throws IOException {
        if (serverEnd == EchoServer.End.ORDERLY) {
            throw new IOException("after " + compared + " bytes, close " + close + ": " + failure, failure);
        }
    }

    private void talk(SocketChannel channel) throws IOException {
        channel.write(ByteBuffer.wrap(new byte[] {serverEnd.code()}));
        for (int i = 0; i < turns; i++) {
            byte[] sent = bytes();
            channel.write(ByteBuffer.wrap(sent));
            compare(sent, read(channel, sent.length));
        }
        byte[] last = bytes();
        switch (close) {
            case QUIET -> channel.close();
            case HALF -> {
                channel.write(ByteBuffer.wrap(last));
                channel.shutdownOutput();
                compare(last, read(channel, last.length));
                if (channel.read(ByteBuffer.allocate(1)) >= 0) {
                    throw new AssertionError("wrong: more bytes than were sent");
                }
            }
            case EARLY -> channel.write(ByteBuffer.wrap(last));
            case RESET -> {
                channel.write(ByteBuffer.wrap(last));
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        }
    }

    private byte[] bytes() {
        byte[] bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 100 : MOST_BYTES)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(SocketChannel channel, int length) throws IOException {
        ByteBuffer read = ByteBuffer.allocate(length);
        while (read.hasRemaining()) {
            if (channel.read(read) < 0) {
                throw new EOFException("the stream has ended after " + read.position() + " of " + length + " bytes");
            }
        }
        return read.array();
    }

    private void compare(byte[] sent, byte[] read) {
        if (!Arrays.equals(sent, read)) {
            throw new AssertionError("wrong: byte " + (compared + Arrays.mismatch(sent, read)) + " of a connection");
        }
        compared += read.length;
    }

    /// In every third case another thread ends it meanwhile.
    private static long runInSelector(EchoServer own, int port, Random random) throws Exception {
        EchoClient client = new EchoClient(port, random);
        SocketChannel channel = own.provider().openSocketChannel();
        channel.configureBlocking(false);
        Talk talk = client.new Talk();
        boolean connected = channel.connect(client.address);
        SelectionKey key =
                channel.register(own.selector(), connected ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT, talk);
        if (random.nextInt(3) == 0) {
            for (int i = random.nextInt(20_000); i > 0; i--) {
                Thread.onSpinWait();
            }
            if (random.nextBoolean()) {
                key.cancel();
            }
            channel.close();
            return client.compared;
        }
        try {
            talk.end.get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof IOException failure)) {
                throw e;
            }
            client.unlessEnded(failure);
        } catch (TimeoutException e) {
            throw new AssertionError("stuck: " + channel + " after " + client.compared + " bytes", e);
        } finally {
            channel.close();
        }
        return client.compared;
    }

    private final class Talk implements EchoServer.Handler {
        private final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        private byte[] sent = {};
        private ByteBuffer out = ByteBuffer.wrap(new byte[] {serverEnd.code()});
        private ByteBuffer in = ByteBuffer.allocate(0);
        private int turn;

        @Override
        public void ready(SelectionKey key) throws IOException {
            try {
                SocketChannel channel = (SocketChannel) key.channel();
                if (key.isConnectable()) {
                    channel.finishConnect();
                }
                advance(channel);
                key.interestOps(
                        out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
            } catch (IOException e) {
                end.completeExceptionally(e);
                throw e;
            } catch (AssertionError e) {
                end.completeExceptionally(e);
            }
        }

        private void advance(SocketChannel channel) throws IOException {
            channel.write(out);
            if (in.hasRemaining() && channel.read(in) < 0) {
                throw new EOFException("the stream has ended after " + in.position() + " of " + sent.length + " bytes");
            }
            while (!out.hasRemaining() && !in.hasRemaining()) {
                compare(sent, in.array());
                if (turn++ == turns) {
                    if (close == Close.RESET) {
                        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                    }
                    channel.close();
                    end.complete(null);
                    return;
                }
                sent = bytes();
                out = ByteBuffer.wrap(sent);
                in = ByteBuffer.allocate(sent.length);
                channel.write(out);
            }
        }
    }
}
