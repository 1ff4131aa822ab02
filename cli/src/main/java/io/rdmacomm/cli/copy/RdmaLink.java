package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.WorkStatus;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// A file copy over an end point: notes are messages; data is written by the sender straight into a ring of
/// blocks that the receiver has announced, with a note for every chunk, and comes back as credit when a
/// block is free again. The note is a message of its own and not a WRITE with notice, which iWARP has not.
public final class RdmaLink implements CopyLink {
    private static final int MAX_CHUNK = 64 << 20;
    private static final int MAX_DEPTH = 1024;
    private static final long MAX_RING = 1L << 30;

    private final EndPoint endPoint;
    private final RdmaChannel channel;
    private final RdmaBuffer noteBuffer;
    private final RdmaBuffer ring;
    private final @Nullable RemoteBuffer remote;
    private final ByteBuffer[] blocks;
    private final int chunk;
    private final int depth;
    private final Deque<Note> stash = new ArrayDeque<>();
    private final CompletionHandler placed = this::onPlaced;
    private final CompletionHandler told = this::onTold;
    private long sent;
    private long completed;
    private long credited;
    private int current;
    private int currentLength;
    private int owed;
    private @Nullable WorkStatus failure;

    private RdmaLink(
            EndPoint endPoint, RdmaBuffer noteBuffer, RdmaBuffer ring, @Nullable RemoteBuffer remote, int chunk) {
        this.endPoint = endPoint;
        this.channel = endPoint.channel(0);
        this.noteBuffer = noteBuffer;
        this.ring = ring;
        this.remote = remote;
        this.chunk = chunk;
        this.depth = ring.blockCount();
        this.blocks = new ByteBuffer[depth];
        for (int i = 0; i < depth; i++) {
            blocks[i] = ring.block(i).segment().asByteBuffer();
        }
    }

    /// The sender's end: agrees with the receiver on the ring of blocks.
    public static RdmaLink sender(Session session, EndPoint endPoint, int chunk, int depth) {
        checkRing(chunk, depth);
        // One for each block of the ring, and the first for all other notes.
        RdmaBuffer notes = session.allocate("copy notes", Frame.MAX_BYTES, 1 + depth);
        RdmaBuffer ring = session.allocate("copy blocks", chunk, depth);
        RdmaChannel channel = endPoint.channel(0);
        say(channel, notes, Note.of(Note.Kind.HELLO, Note.VERSION, chunk, depth));
        Note hello = hear(channel, PATIENCE);
        if (hello.kind() == Note.Kind.REFUSE) {
            throw new CommandFailure("the receiver says: " + hello.text());
        }
        checkHello(hello);
        return new RdmaLink(endPoint, notes, ring, endPoint.peerBuffer(hello.text(), PATIENCE), chunk);
    }

    /// The receiver's end: allocates the ring that the sender asks for and announces it (MSG_MR).
    ///
    /// @param id tells the buffers of several senders apart
    public static RdmaLink receiver(Session session, EndPoint endPoint, long id) {
        RdmaChannel channel = endPoint.channel(0);
        Note hello = hear(channel, PATIENCE);
        checkHello(hello);
        RdmaBuffer notes = session.allocate("copy notes " + id, Frame.MAX_BYTES, 1);
        try {
            int chunk = Math.clamp(hello.number(1), 0, Integer.MAX_VALUE);
            int depth = Math.clamp(hello.number(2), 0, Integer.MAX_VALUE);
            checkRing(chunk, depth);
            RdmaBuffer ring = session.allocate("copy blocks " + id, chunk, depth);
            endPoint.announce(ring);
            say(channel, notes, Note.of(Note.Kind.HELLO, ring.name(), Note.VERSION, chunk, depth));
            return new RdmaLink(endPoint, notes, ring, null, chunk);
        } catch (RuntimeException e) {
            say(channel, notes, Note.of(Note.Kind.REFUSE, String.valueOf(e.getMessage())));
            notes.close();
            throw e;
        }
    }

    private static void checkHello(Note hello) {
        if (hello.kind() != Note.Kind.HELLO || hello.number(0) != Note.VERSION) {
            throw Note.unintelligible();
        }
    }

    private static void checkRing(int chunk, int depth) {
        if (chunk < 1 || chunk > MAX_CHUNK || depth < 1 || depth > MAX_DEPTH || (long) chunk * depth > MAX_RING) {
            throw new CommandFailure("chunk size " + chunk + " with depth " + depth
                    + " is out of range: chunks can be 1 to 64M, depth 1 to 1024, together 1g");
        }
    }

    @Override
    public String description() {
        return "RDMA";
    }

    @Override
    public void send(Note note) {
        say(channel, noteBuffer, note);
    }

    private static void say(RdmaChannel channel, RdmaBuffer buffer, Note note) {
        int length = note.write(buffer.segment());
        channel.blocking(PATIENCE).send(buffer.slice(0, length));
    }

    private static Note hear(RdmaChannel channel, Duration timeout) {
        try (Message message = channel.blocking(timeout).receive()) {
            return Note.read(message.segment());
        }
    }

    @Override
    public Note receive(Duration timeout) {
        Note stashed = stash.poll();
        if (stashed != null) {
            return stashed;
        }
        while (true) {
            Message message = channel.blocking(timeout).receive();
            Note note = take(message);
            if (note != null) {
                return note;
            }
        }
    }

    @Override
    public @Nullable Note poll() {
        Note stashed = stash.poll();
        return stashed != null ? stashed : look();
    }

    /// The next note that has arrived, if any; credit is taken on the way.
    private @Nullable Note look() {
        channel.poll();
        for (Message message = channel.tryReceive(); message != null; message = channel.tryReceive()) {
            Note note = take(message);
            if (note != null) {
                return note;
            }
        }
        return null;
    }

    /// What a message means; null when it was credit and nothing else.
    private @Nullable Note take(Message arrived) {
        try (Message message = arrived) {
            Note note = Note.read(message.segment());
            if (note.kind() == Note.Kind.CREDIT) {
                credited += note.number(0);
                return null;
            }
            return note.kind() == Note.Kind.DATA ? data(note) : note;
        }
    }

    /// A chunk has been written into a block.
    private Note data(Note note) {
        long index = note.number(0);
        long length = note.number(1);
        if (index < 0 || index >= depth || length < 0 || length > chunk || remote != null) {
            throw Note.unintelligible();
        }
        current = (int) index;
        currentLength = (int) length;
        return Note.of(Note.Kind.DATA, length);
    }

    @Override
    public ByteBuffer block() {
        Idle idle = new Idle(PATIENCE);
        while (sent - completed >= depth || sent - credited >= depth) {
            lookAround(idle);
        }
        return blocks[(int) (sent % depth)].clear();
    }

    @Override
    public void sendBlock(ByteBuffer block) {
        RemoteBuffer target = remote;
        if (target == null) {
            throw new IllegalStateException("a receiver sends no data");
        }
        int index = (int) (sent % depth);
        BufferSlice whole = ring.block(index);
        BufferSlice slice = block.position() == chunk ? whole : whole.slice(0, block.position());
        BufferSlice note = noteBuffer.block(1 + index);
        int length = Note.of(Note.Kind.DATA, index, slice.length()).write(note.segment());
        BufferSlice words = noteBuffer.slice(note.offset(), length);
        Idle idle = new Idle(PATIENCE);
        while (!channel.tryWrite(slice, target, (long) index * chunk, placed, 0).isAccepted()) {
            channel.checkOpen();
            lookAround(idle);
        }
        while (!channel.trySend(words, told, 0).isAccepted()) {
            channel.checkOpen();
            lookAround(idle);
        }
        sent++;
        checkFailure();
    }

    /// What to do while there is no room for an operation.
    private void lookAround(Idle idle) {
        checkFailure();
        Note note = look();
        if (note != null) {
            stash.add(note);
        } else {
            idle.pause();
        }
    }

    private void onPlaced(RdmaChannel on, long context, WorkStatus status, long result) {
        if (status != WorkStatus.SUCCESS && failure == null) {
            failure = status;
        }
    }

    /// The operations of a channel end in order: the data has arrived as well.
    private void onTold(RdmaChannel on, long context, WorkStatus status, long result) {
        completed++;
        onPlaced(on, context, status, result);
    }

    private void checkFailure() {
        CommException cause = endPoint.failure();
        if (cause != null) {
            throw new ClosedException(String.valueOf(cause.getMessage()), cause);
        }
        if (failure != null) {
            throw new CommandFailure("writing to the receiver failed: " + failure);
        }
    }

    @Override
    public ByteBuffer data() {
        return blocks[current].clear().limit(currentLength);
    }

    @Override
    public void release() {
        owed++;
        if (owed >= Math.max(1, depth / 4)) {
            send(Note.of(Note.Kind.CREDIT, owed));
            owed = 0;
        }
    }

    @Override
    public void close() {
        endPoint.close();
        ring.close();
        noteBuffer.close();
    }
}
