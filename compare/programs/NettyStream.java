import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.file.Path;

/// A stream with Netty: one connection, writes of one size. The first and the last eight bytes of each write have its
/// number, which the server checks. It confirms each write with a byte, 0 if it was wrong.
final class NettyStream implements Loaded {
    /// So many bytes may be unconfirmed.
    private static final int WINDOW = 1 << 23;

    private final int bytes;
    private Channel listening;

    NettyStream(int bytes) {
        this.bytes = bytes;
    }

    @Override
    public int start(Path folder) throws InterruptedException {
        listening = Netty.serve(1, () -> new Checking(bytes));
        return Netty.port(listening);
    }

    @Override
    public void stop() throws InterruptedException {
        listening.close().sync();
    }

    @Override
    public void begin(int port, Meter meter) throws InterruptedException {
        Netty.connect(1, 1, port, () -> new Sending(bytes, meter));
    }

    private static final class Checking extends ChannelInboundHandlerAdapter {
        private final int bytes;
        private long number;
        private int position;
        private long found;

        Checking(int bytes) {
            this.bytes = bytes;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf part = (ByteBuf) message;
            ByteBuf answer = context.alloc().buffer();
            while (part.isReadable()) {
                if (position < Long.BYTES || position >= bytes - Long.BYTES) {
                    found = found << Byte.SIZE | part.readUnsignedByte();
                    position++;
                } else {
                    int skipped = Math.min(part.readableBytes(), bytes - Long.BYTES - position);
                    part.skipBytes(skipped);
                    position += skipped;
                }
                if (position == Long.BYTES || position == bytes) {
                    check(answer);
                }
            }
            part.release();
            context.writeAndFlush(answer, context.voidPromise());
        }

        private void check(ByteBuf answer) {
            boolean right = found == number;
            if (position == bytes) {
                position = 0;
                number++;
                answer.writeByte(right ? 1 : 0);
            } else if (!right) {
                answer.writeByte(0);
            }
        }
    }

    private static final class Sending extends Netty.Client {
        private final int bytes;
        private long number;
        private int unconfirmed;

        Sending(int bytes, Meter meter) {
            super(meter);
            this.bytes = bytes;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            while (context.channel().isWritable() && unconfirmed < WINDOW) {
                ByteBuf write = context.alloc().directBuffer(bytes).writerIndex(bytes);
                write.setLong(0, number).setLong(bytes - Long.BYTES, number);
                number++;
                unconfirmed += bytes;
                context.writeAndFlush(write, context.voidPromise());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf answers = (ByteBuf) message;
            while (answers.isReadable()) {
                if (answers.readByte() != 1) {
                    meter.failed(new AssertionError("a write arrived with other bytes"));
                }
                meter.done();
                unconfirmed -= bytes;
            }
            answers.release();
            send(context);
        }
    }
}
