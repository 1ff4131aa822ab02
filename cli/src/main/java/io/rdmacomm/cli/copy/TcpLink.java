package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Either end over a plain TCP socket, for comparison with RDMA. The control messages are the same; a chunk of data
/// is a DATA message with the length, followed by the bytes. TCP does the flow control. The two HELLO messages are
/// those of an exchange, which protects the receiver from strangers as a session does.
final class TcpLink implements SenderLink, ReceiverLink {
    private static final int MOST_WAITING = 4 * FileSender.WINDOW;
    /// The name of the protocol tells a program that speaks another one what it has reached.
    static final ExchangeOptions PROTOCOL = ExchangeOptions.of("rdmacomm-send-recv-over-tcp");

    private final Exchange exchange;
    private final SocketChannel socket;
    private final Selector selector;
    private final SelectionKey key;
    private final RingSize wish;
    /// Shared by all senders; null at a sender.
    private final @Nullable CopyMemory memory;
    private final ByteBuffer header = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
    private final ByteBuffer out = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
    private final Deque<Frame<CopyMessage>> waiting = new ArrayDeque<>();
    private @Nullable RingSize ring;
    private ByteBuffer block = ByteBuffer.allocate(0);

    private TcpLink(Exchange exchange, RingSize wish, @Nullable CopyMemory memory) throws IOException {
        this.exchange = exchange;
        this.socket = exchange.socket();
        this.wish = wish;
        this.memory = memory;
        socket.configureBlocking(false);
        this.selector = Selector.open();
        boolean registered = false;
        try {
            this.key = socket.register(selector, SelectionKey.OP_READ);
            registered = true;
        } finally {
            if (!registered) {
                selector.close();
            }
        }
        header.limit(FrameCodec.HEADER_BYTES);
    }

    /// The sender's end. Connects and greets the receiver. Blocks.
    ///
    /// @param wish the largest chunk that this side wants
    /// @param timeout of each step: connecting, the handshake, and the greeting
    /// @throws io.rdmacomm.verbs.RdmaException if the receiver does not answer, or refuses
    static TcpLink connect(String host, int port, RingSize wish, Duration timeout) throws IOException {
        Exchange exchange = Exchange.connect(host, port, PROTOCOL.withStep(timeout), timeout);
        return OnFailure.run(exchange::close, () -> {
            exchange.send(bytes(CopyGreeting.RELEASE.ask(new RingSize(wish.chunk(), 1))));
            var _ = CopyGreeting.RELEASE.agree(frame(exchange.receive(timeout)), "the receiver");
            return new TcpLink(exchange, wish, null);
        });
    }

    /// Reads the greeting of a connected sender. Blocks.
    ///
    /// @return the ring that it asks for
    /// @throws CommandFailure if it is not a sender; it has been notified
    /// @throws SetupFailedException if there is no common version; it has been notified
    /// @throws io.rdmacomm.verbs.RdmaException if it is gone
    static RingSize greeting(Exchange sender) {
        try {
            Frame<CopyMessage> hello = frame(sender.receive(TIMEOUT));
            var _ = CopyGreeting.RELEASE.agree(hello, "the sender");
            return CopyGreeting.wish(hello);
        } catch (SetupFailedException e) {
            // The answer tells the sender both version ranges.
            sender.send(bytes(CopyGreeting.RELEASE.answer()));
            throw e;
        } catch (CommandFailure e) {
            sender.refuse(String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /// The receiver's end: answers the greeting.
    ///
    /// @param sender the caller closes it
    /// @param memory shared by all senders
    static TcpLink accept(Exchange sender, RingSize wish, CopyMemory memory) throws IOException {
        sender.send(bytes(CopyGreeting.RELEASE.answer()));
        return new TcpLink(sender, wish, memory);
    }

    private static ByteBuffer bytes(Frame<CopyMessage> frame) {
        ByteBuffer bytes = ByteBuffer.allocate(FrameCodec.MAX_BYTES);
        return bytes.limit(CopyMessage.CODEC.write(frame, MemorySegment.ofBuffer(bytes)));
    }

    private static Frame<CopyMessage> frame(ByteBuffer bytes) {
        return CopyMessage.CODEC.read(MemorySegment.ofBuffer(bytes));
    }

    @Override
    public void prepare() throws RejectedFileException {
        if (ring == null && memory != null) {
            RingSize taken = memory.take(wish);
            block = OnFailure.run(() -> memory.give(taken), () -> ByteBuffer.allocateDirect(taken.chunk()));
            ring = taken;
            send(taken.toRing(""));
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
        Frame<CopyMessage> frame = next();
        if (frame != null && frame.kind() == CopyMessage.RING) {
            if (memory != null || block.capacity() > 0) {
                throw CopyMessage.CODEC.protocolError();
            }
            block = ByteBuffer.allocateDirect(wish.chosen(frame).chunk());
            frame = next();
        }
        return frame;
    }

    private @Nullable Frame<CopyMessage> next() {
        return waiting.isEmpty() ? read() : waiting.poll();
    }

    /// The next message if all of it has arrived, else null.
    private @Nullable Frame<CopyMessage> read() {
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
        if (frame.kind() == CopyMessage.DATA && memory != null) {
            readData(frame.number(0));
        }
        return frame;
    }

    private void readData(long length) {
        if (length < 1 || length > block.capacity()) {
            throw CopyMessage.CODEC.protocolError();
        }
        block.clear().limit((int) length);
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!fill(block)) {
            await(SelectionKey.OP_READ, deadline, TIMEOUT);
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
                    throw new PeerFailedException(
                            PeerFailedException.Reason.GONE, "the peer closed the connection", null);
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
        if (block.capacity() == 0) {
            throw CopyMessage.CODEC.protocolError();
        }
        return block.clear();
    }

    @Override
    public void sendBlock(ByteBuffer filled, long file) {
        filled.flip();
        send(Frame.of(CopyMessage.DATA, filled.remaining(), 0, file));
        writeAll(filled);
    }

    private void writeAll(ByteBuffer bytes) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        try {
            while (bytes.hasRemaining()) {
                if (socket.write(bytes) == 0) {
                    awaitRoom(deadline);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the connection broke: " + e.getMessage(), e);
        }
    }

    /// A receiver may stop reading until its answers are read, so a sender reads them here and keeps them for
    /// later.
    private void awaitRoom(long deadline) {
        if (memory != null) {
            await(SelectionKey.OP_WRITE, deadline, TIMEOUT);
            return;
        }
        await(SelectionKey.OP_WRITE | SelectionKey.OP_READ, deadline, TIMEOUT);
        for (Frame<CopyMessage> frame = read(); frame != null; frame = read()) {
            if (frame.kind() == CopyMessage.DATA || waiting.size() >= MOST_WAITING) {
                throw CopyMessage.CODEC.protocolError();
            }
            waiting.add(frame);
        }
    }

    private void await(int operation, long deadline, Duration timeout) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw WaitLoop.silent(timeout);
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
    public void data(Sink sink) throws IOException {
        sink.accept(block);
    }

    @Override
    public void release() {}

    @Override
    public void close() {
        RingSize taken = ring;
        if (taken != null && memory != null) {
            ring = null;
            memory.give(taken);
        }
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            exchange.close();
        }
    }
}
