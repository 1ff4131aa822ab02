package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.nio.channels.spi.SelectorProvider;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Netty with a provider that it is given.
@ExtendWith(LeakCheck.class)
class NettyTest {
    private static final int BYTES = 2_000_000;

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.writeAndFlush(message);
        }
    }

    private static final class Collect extends SimpleChannelInboundHandler<ByteBuf> {
        private final ByteBuf all = Unpooled.buffer(BYTES);
        private final CompletableFuture<ByteBuf> done = new CompletableFuture<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            all.writeBytes(message);
            if (all.readableBytes() == BYTES) {
                done.complete(all);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            done.completeExceptionally(new AssertionError("closed after " + all.readableBytes() + " bytes"));
        }
    }

    @ParameterizedTest
    @EnumSource(Sockets.class)
    @Timeout(value = 1, unit = TimeUnit.MINUTES)
    void bytesComeBack(Sockets sockets) throws Exception {
        SelectorProvider provider = sockets.provider();
        byte[] sent = new byte[BYTES];
        long seed = System.nanoTime();
        System.out.println(sockets + ": seed " + seed);
        new Random(seed).nextBytes(sent);
        Collect collect = new Collect();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(
                2, NioIoHandler.newFactory(provider, DefaultSelectStrategyFactory.INSTANCE));
        try {
            Channel server = new ServerBootstrap()
                    .group(group)
                    .channelFactory(() -> new NioServerSocketChannel(provider))
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new Echo());
                        }
                    })
                    .bind(Sockets.anyPort())
                    .sync()
                    .channel();
            Channel client = new Bootstrap()
                    .group(group)
                    .channelFactory(() -> new NioSocketChannel(provider))
                    .handler(collect)
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            client.writeAndFlush(Unpooled.wrappedBuffer(sent)).sync();
            assertThat(collect.done.get()).isEqualTo(Unpooled.wrappedBuffer(sent));
            client.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            Sockets.close(provider);
        }
    }
}
