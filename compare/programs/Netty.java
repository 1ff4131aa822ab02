import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/// Servers and clients of Netty with its NIO transport.
final class Netty {
    private Netty() {}

    /// The client's end of a connection, which must not end.
    abstract static class Client extends ChannelInboundHandlerAdapter {
        final Meter meter;

        Client(Meter meter) {
            this.meter = meter;
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            meter.failed(new AssertionError("the server has closed a connection"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            meter.failed(cause);
        }
    }

    private static EventLoopGroup loops(int count) {
        return new MultiThreadIoEventLoopGroup(count, NioIoHandler.newFactory());
    }

    private static ChannelInitializer<Channel> initializer(Supplier<ChannelHandler> handler) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handler.get());
            }
        };
    }

    /// @return the listening channel
    static Channel serve(int loops, Supplier<ChannelHandler> handler) throws InterruptedException {
        return new ServerBootstrap()
                .group(loops(1), loops(loops))
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(initializer(handler))
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
    }

    static int port(Channel listening) {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    static void connect(int loops, int connections, int port, Supplier<ChannelHandler> handler) throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap()
                .group(loops(loops))
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(initializer(handler));
        for (int i = 0; i < connections; i++) {
            bootstrap.connect(InetAddress.getLoopbackAddress(), port).sync();
        }
    }
}
