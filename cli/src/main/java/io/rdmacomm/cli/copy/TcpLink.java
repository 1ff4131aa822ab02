package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
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

/// The same file copy over a plain socket, for comparison: the same notes; a chunk is a DATA note with its
/// length, and then its bytes. Flow control is TCP's.
public final class TcpLink implements CopyLink {
    private final SocketChannel socket;
    private final Selector selector;
    private final SelectionKey key;
    private final int maxChunk;
    private final ByteBuffer header = ByteBuffer.allocateDirect(Frame.MAX_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(Frame.MAX_BYTES);
    private ByteBuffer block;

    /// A link over a connected socket, which it closes.
    ///
    /// @param chunk how long the sender's chunks are
    public TcpLink(SocketChannel socket, int chunk) throws IOException {
        this.socket = socket;
        this.maxChunk = chunk;
        this.block = ByteBuffer.allocateDirect(chunk);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.configureBlocking(false);
        this.selector = Selector.open();
        this.key = socket.register(selector, SelectionKey.OP_READ);
        header.limit(Frame.HEADER_BYTES);
    }

    /// Greets the receiver, and waits for its greeting.
    public void greetReceiver() {
        send(Note.of(Note.Kind.HELLO, Note.VERSION, maxChunk, 1));
        checkHello(receive(PATIENCE));
    }

    /// Waits for the sender's greeting, and answers it.
    public void greetSender() {
        checkHello(receive(PATIENCE));
        send(Note.of(Note.Kind.HELLO, Note.VERSION, maxChunk, 1));
    }

    private void checkHello(Note hello) {
        if (hello.kind() != Note.Kind.HELLO || hello.number(0) != Note.VERSION || hello.number(1) > 64 << 20) {
            throw Note.unintelligible();
        }
        if (hello.number(1) > block.capacity()) {
            block = ByteBuffer.allocateDirect((int) hello.number(1));
        }
    }

    @Override
    public String description() {
        return "TCP";
    }

    @Override
    public void send(Note note) {
        out.clear().limit(note.write(MemorySegment.ofBuffer(out.clear())));
        writeAll(out);
    }

    @Override
    public Note receive(Duration timeout) {
        return receiveUntil(System.nanoTime() + timeout.toNanos(), timeout);
    }

    private Note receiveUntil(long deadline, Duration timeout) {
        Note note = poll();
        while (note == null) {
            await(SelectionKey.OP_READ, deadline, timeout);
            note = poll();
        }
        return note;
    }

    @Override
    public @Nullable Note poll() {
        if (!fill(header)) {
            return null;
        }
        if (header.limit() == Frame.HEADER_BYTES) {
            int length = Frame.length(MemorySegment.ofBuffer(header.duplicate().flip()), Note.MAGIC);
            if (length < 0) {
                throw Note.unintelligible();
            }
            header.limit(length);
            if (!fill(header)) {
                return null;
            }
        }
        Note note = Note.read(MemorySegment.ofBuffer(header.duplicate().flip()));
        header.clear().limit(Frame.HEADER_BYTES);
        if (note.kind() == Note.Kind.DATA) {
            readData(note.number(0));
        }
        return note;
    }

    private void readData(long length) {
        if (length < 1 || length > block.capacity()) {
            throw Note.unintelligible();
        }
        block.clear().limit((int) length);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!fill(block)) {
            await(SelectionKey.OP_READ, deadline, PATIENCE);
        }
        block.flip();
    }

    /// Reads until `into` is full or nothing more is there; whether it is full.
    private boolean fill(ByteBuffer into) {
        try {
            while (into.hasRemaining()) {
                int count = socket.read(into);
                if (count < 0) {
                    throw new PeerGoneException();
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
        send(Note.of(Note.Kind.DATA, filled.remaining()));
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
            throw new CommandFailure("the other side was silent for " + timeout.toSeconds() + " s: is it stopped?");
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
