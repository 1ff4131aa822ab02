package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.cli.wire.FrameCodec;
import io.rdmacomm.comm.PeerClosedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Either end over a plain TCP socket, for comparison with RDMA. The control messages are the same; a chunk of data is
/// a DATA message with the length, followed by the bytes. TCP does the flow control.
public final class TcpLink implements SenderLink, ReceiverLink {
    private final SocketChannel socket;
    private final Selector selector;
    private final SelectionKey key;
    private final RingSize size;
    private final ByteBuffer header = ByteBuffer.allocateDirect(FrameCodec.MAX_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(FrameCodec.MAX_BYTES);
    private ByteBuffer block;

    /// A link over a connected socket, which it closes.
    ///
    /// @param chunk the size of the sender's chunks
    public TcpLink(SocketChannel socket, int chunk) throws IOException {
        this.socket = socket;
        this.size = new RingSize(chunk, 1);
        this.block = ByteBuffer.allocateDirect(chunk);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.configureBlocking(false);
        this.selector = Selector.open();
        this.key = socket.register(selector, SelectionKey.OP_READ);
        header.limit(FrameCodec.HEADER_BYTES);
    }

    /// Exchanges HELLO with the receiver.
    public void greetReceiver() {
        send(size.toHello(""));
        checkHello(receive(PATIENCE));
    }

    /// Exchanges HELLO with the sender.
    public void greetSender() {
        checkHello(receive(PATIENCE));
        send(size.toHello(""));
    }

    private void checkHello(Frame<CopyMessage> hello) {
        int chunk = RingSize.of(hello).chunk();
        if (chunk > block.capacity()) {
            block = ByteBuffer.allocateDirect(chunk);
        }
    }

    @Override
    public void send(Frame<CopyMessage> frame) {
        out.clear().limit(CopyMessage.CODEC.write(frame, MemorySegment.ofBuffer(out.clear())));
        writeAll(out);
    }

    @Override
    public Frame<CopyMessage> receive(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        Frame<CopyMessage> frame = poll();
        while (frame == null) {
            await(SelectionKey.OP_READ, deadline, timeout);
            frame = poll();
        }
        return frame;
    }

    @Override
    public @Nullable Frame<CopyMessage> poll() {
        if (!fill(header)) {
            return null;
        }
        if (header.limit() == FrameCodec.HEADER_BYTES) {
            header.limit(CopyMessage.CODEC.length(
                    MemorySegment.ofBuffer(header.duplicate().flip())));
            if (!fill(header)) {
                return null;
            }
        }
        Frame<CopyMessage> frame =
                CopyMessage.CODEC.read(MemorySegment.ofBuffer(header.duplicate().flip()));
        header.clear().limit(FrameCodec.HEADER_BYTES);
        if (frame.kind() == CopyMessage.DATA) {
            readData(frame.number(0));
        }
        return frame;
    }

    private void readData(long length) {
        if (length < 1 || length > block.capacity()) {
            throw CopyMessage.CODEC.protocolError();
        }
        block.clear().limit((int) length);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!fill(block)) {
            await(SelectionKey.OP_READ, deadline, PATIENCE);
        }
        block.flip();
    }

    /// Reads what has arrived into `into`.
    ///
    /// @return whether `into` is full
    private boolean fill(ByteBuffer into) {
        try {
            while (into.hasRemaining()) {
                int count = socket.read(into);
                if (count < 0) {
                    throw new PeerClosedException("the peer closed the connection", null);
                }
                if (count == 0) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException("the connection broke: " + e.getMessage(), e);
        }
    }

    @Override
    public ByteBuffer block() {
        return block.clear();
    }

    @Override
    public void sendBlock(ByteBuffer filled) {
        filled.flip();
        send(Frame.of(CopyMessage.DATA, filled.remaining()));
        writeAll(filled);
    }

    private void writeAll(ByteBuffer bytes) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (bytes.hasRemaining()) {
                if (socket.write(bytes) == 0) {
                    await(SelectionKey.OP_WRITE, deadline, PATIENCE);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the connection broke: " + e.getMessage(), e);
        }
    }

    private void await(int operation, long deadline, Duration timeout) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw Backoff.silent(timeout);
        }
        try {
            key.interestOps(operation);
            selector.select(Math.max(1, left / 1_000_000));
            selector.selectedKeys().clear();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public ByteBuffer data() {
        return block;
    }

    @Override
    public void release() {}

    @Override
    public void close() {
        try {
            selector.close();
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
