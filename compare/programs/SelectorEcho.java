import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.function.Consumer;

/// An echo with the selectors of the JDK: two threads at each end, each with a selector of eight connections.
final class SelectorEcho implements Loaded {
    private static final int THREADS = 2;
    private static final int CONNECTIONS = 8;
    private static final int BYTES = 100;

    private ServerSocketChannel listening;

    @Override
    public int start(Path folder) throws IOException {
        listening = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        Thread.ofPlatform().daemon().start(this::accept);
        return listening.socket().getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Selector selector = Selector.open();
                for (int i = 0; i < CONNECTIONS; i++) {
                    register(listening.accept(), selector);
                }
                run(selector, SelectorEcho::echo, Throwable::printStackTrace);
            }
        } catch (IOException e) {
            // The program was stopped.
        }
    }

    private static SelectionKey register(SocketChannel channel, Selector selector) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        return channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(BYTES));
    }

    private interface Action {
        void run(SocketChannel channel, ByteBuffer buffer) throws IOException;
    }

    private static void run(Selector selector, Action action, Consumer<Throwable> failed) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    selector.select(key -> {
                        try {
                            action.run((SocketChannel) key.channel(), (ByteBuffer) key.attachment());
                        } catch (IOException | AssertionError e) {
                            key.cancel();
                            failed.accept(e);
                        }
                    });
                }
            } catch (IOException e) {
                failed.accept(e);
            }
        });
    }

    /// A message is so short that it is never written in part.
    private static void echo(SocketChannel channel, ByteBuffer buffer) throws IOException {
        if (channel.read(buffer) < 0) {
            channel.close();
        } else if (!buffer.hasRemaining()) {
            channel.write(buffer.flip());
            buffer.clear();
        }
    }

    @Override
    public void stop() throws IOException {
        listening.close();
    }

    @Override
    public void begin(int port, Meter meter) throws IOException {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        for (int i = 0; i < THREADS; i++) {
            Selector selector = Selector.open();
            for (int k = 0; k < CONNECTIONS; k++) {
                SelectionKey key = register(SocketChannel.open(server), selector);
                ask((SocketChannel) key.channel(), (ByteBuffer) key.attachment(), k);
            }
            run(selector, (channel, buffer) -> answered(channel, buffer, meter), meter::failed);
        }
    }

    private static void ask(SocketChannel channel, ByteBuffer buffer, long number) throws IOException {
        buffer.clear();
        while (buffer.remaining() >= Long.BYTES) {
            buffer.putLong(number + buffer.position());
        }
        channel.write(buffer.position(BYTES).flip());
        buffer.clear();
    }

    private static void answered(SocketChannel channel, ByteBuffer buffer, Meter meter) throws IOException {
        if (channel.read(buffer) < 0) {
            throw new IOException("the server has closed a connection");
        }
        if (buffer.hasRemaining()) {
            return;
        }
        long number = buffer.flip().getLong(0);
        for (int at = 0; at + Long.BYTES <= BYTES; at += Long.BYTES) {
            if (buffer.getLong(at) != number + at) {
                throw new AssertionError("an answer has other bytes");
            }
        }
        meter.done();
        ask(channel, buffer, number + 1);
    }
}
