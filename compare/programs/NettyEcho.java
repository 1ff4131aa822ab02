import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.file.Path;

/// An echo with Netty. Each connection has one message on its way.
final class NettyEcho implements Loaded {
    private final int loops;
    private final int connections;
    private final int bytes;
    private Channel listening;

    NettyEcho(int loops, int connections, int bytes) {
        this.loops = loops;
        this.connections = connections;
        this.bytes = bytes;
    }

    @Override
    public int start(Path folder) throws InterruptedException {
        listening = Netty.serve(loops, Echoing::new);
        return Netty.port(listening);
    }

    @Override
    public void stop() throws InterruptedException {
        listening.close().sync();
    }

    @Override
    public void begin(int port, Meter meter) throws InterruptedException {
        Netty.connect(loops, connections, port, () -> new Asking(bytes, meter));
    }

    private static final class Echoing extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message, context.voidPromise());
        }
    }

    private static final class Asking extends Netty.Client {
        private final ByteBuf sent;
        private int received;

        Asking(int bytes, Meter meter) {
            super(meter);
            this.sent = Unpooled.directBuffer(bytes).writeBytes(Bytes.of(bytes, hashCode()));
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            ask(context);
        }

        private void ask(ChannelHandlerContext context) {
            received = 0;
            context.writeAndFlush(sent.retainedDuplicate(), context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf part = (ByteBuf) message;
            int count = part.readableBytes();
            if (count > sent.readableBytes() - received || !ByteBufUtil.equals(part, part.readerIndex(), sent, received, count)) {
                throw new AssertionError("an answer has other bytes");
            }
            part.release();
            received += count;
            if (received == sent.readableBytes()) {
                meter.done();
                sent.setLong(0, sent.getLong(0) + 1);
                ask(context);
            }
        }
    }
}
