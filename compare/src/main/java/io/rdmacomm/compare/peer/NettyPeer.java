package io.rdmacomm.compare.peer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Netty over TCP: one event loop at each end. In the ping-pong the loops poll (`selectNow`) and never sleep.
final class NettyPeer implements Peer {
    private static final long TIMEOUT_SECONDS = 120;
    private static final int CHECK_MASK = 63;

    private final boolean stream;

    NettyPeer(boolean stream) {
        this.stream = stream;
    }

    private EventLoopGroup loop() {
        SelectStrategy polling = (select, _) -> select.get();
        return new MultiThreadIoEventLoopGroup(
                1,
                stream
                        ? NioIoHandler.newFactory()
                        : NioIoHandler.newFactory(SelectorProvider.provider(), () -> polling));
    }

    @Override
    public void serve(Task task) throws InterruptedException {
        try (EventLoopGroup loop = loop()) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            Channel listener = new ServerBootstrap()
                    .group(loop)
                    .channel(NioServerSocketChannel.class)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(stream ? new Confirming() : new Echoing());
                            channel.closeFuture().addListener(_ -> end.complete(null));
                        }
                    })
                    .bind(Sockets.address(task))
                    .sync()
                    .channel();
            end.join();
            listener.close().sync();
        }
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        try (EventLoopGroup loop = loop()) {
            CompletableFuture<Double> result = new CompletableFuture<>();
            ChannelInboundHandlerAdapter handler = stream ? new Streaming(task, result) : new Asking(task, result);
            Channel channel = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .handler(handler)
                    .connect(Sockets.address(task))
                    .sync()
                    .channel();
            try {
                return result.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new IOException("Netty did not finish", e);
            } finally {
                channel.close().sync();
            }
        }
    }

    /// Sends back what arrives.
    private static final class Echoing extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.writeAndFlush(message, context.voidPromise());
        }
    }

    /// Sends the next message when the last one has come back.
    private static final class Asking extends ChannelInboundHandlerAdapter {
        private final Task task;
        private final CompletableFuture<Double> result;
        private long begin;
        private long operations;
        private int missing;
        private boolean warm;

        Asking(Task task, CompletableFuture<Double> result) {
            this.task = task;
            this.result = result;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            begin = System.nanoTime();
            ask(context);
        }

        private void ask(ChannelHandlerContext context) {
            missing = task.bytes();
            var _ = context.writeAndFlush(
                    context.alloc().directBuffer(task.bytes()).writeZero(task.bytes()), context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            missing -= bytes.readableBytes();
            bytes.release();
            if (missing > 0 || isAtEnd()) {
                return;
            }
            ask(context);
        }

        private boolean isAtEnd() {
            operations++;
            if ((operations & CHECK_MASK) != 0) {
                return false;
            }
            long now = System.nanoTime();
            if (!warm && now - begin >= task.warmUpNanos()) {
                warm = true;
                begin = now;
                operations = 0;
            } else if (warm && now - begin >= task.nanos()) {
                result.complete((now - begin) / 2000.0 / operations);
                return true;
            }
            return false;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            result.completeExceptionally(cause);
        }
    }

    /// Reads streams, each of which begins with its length, and confirms each with one byte.
    private static final class Confirming extends ChannelInboundHandlerAdapter {
        private long left;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            if (left == 0) {
                left = bytes.readLong(); // The client sends it in one segment, after a confirmation.
            }
            left -= bytes.readableBytes();
            bytes.release();
            if (left == 0) {
                var _ = context.writeAndFlush(context.alloc().directBuffer(1).writeByte(0));
            }
        }
    }

    /// Sends the streams that the measuring thread asks for.
    private static final class Streaming extends ChannelInboundHandlerAdapter {
        private final Task task;
        private final CompletableFuture<Double> result;
        private CompletableFuture<Void> confirmation = new CompletableFuture<>();
        private long left;

        Streaming(Task task, CompletableFuture<Double> result) {
            this.task = task;
            this.result = result;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    result.complete(Streams.rate(task, messages -> {
                        CompletableFuture<Void> confirmed = new CompletableFuture<>();
                        context.executor().execute(() -> begin(context, messages, confirmed));
                        confirmed.join();
                    }));
                } catch (IOException | InterruptedException e) {
                    result.completeExceptionally(e);
                }
            });
        }

        private void begin(ChannelHandlerContext context, long messages, CompletableFuture<Void> confirmed) {
            confirmation = confirmed;
            left = messages;
            var _ = context.writeAndFlush(
                    context.alloc().directBuffer(Long.BYTES).writeLong(messages * task.bytes()));
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            while (left > 0 && context.channel().isWritable()) {
                left--;
                var _ = context.writeAndFlush(
                        context.alloc().directBuffer(task.bytes()).writerIndex(task.bytes()), context.voidPromise());
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ((ByteBuf) message).release();
            confirmation.complete(null);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            confirmation.completeExceptionally(cause);
            result.completeExceptionally(cause);
        }
    }
}
