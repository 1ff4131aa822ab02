package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.verbs.AccessFlag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The receiver's end over RDMA: announces a ring of blocks that the sender writes into, and returns blocks that
/// are free again as credit.
final class RdmaReceiverLink implements ReceiverLink {
    /// Small enough for the processor's caches.
    private static final int PIECE_BYTES = 128 << 10;

    private final Session session;
    private final EndPoint endPoint;
    private final String name;
    private final CopyMemory memory;
    private final FrameChannel<CopyMessage> control;
    private final RingSize wish;
    private @Nullable Ring ring;
    private int current;
    private int currentLength;
    private int unreturned;

    /// The blocks that a sender writes into, and the memory for a copy of each piece: the sender can change the
    /// blocks at any time, so the copy is checked and stored.
    private record Ring(RingSize size, RdmaBuffer blocks, ByteBuffer piece) {}

    /// Greets the sender.
    ///
    /// @param id distinguishes the buffers of several senders
    /// @param memory shared by all senders
    RdmaReceiverLink(Session session, EndPoint endPoint, long id, CopyMemory memory) {
        this.session = session;
        this.endPoint = endPoint;
        this.name = "copy blocks " + id;
        this.memory = memory;
        this.control =
                new FrameChannel<>(session, endPoint.channel(0), CopyMessage.CODEC, "copy control " + id, TIMEOUT);
        boolean greeted = false;
        try {
            this.wish = greet();
            greeted = true;
        } finally {
            if (!greeted) {
                control.close();
            }
        }
    }

    private RingSize greet() {
        Frame<CopyMessage> hello = control.receive();
        try {
            var _ = CopyGreeting.RELEASE.agree(hello, "the sender");
            RingSize asked = CopyGreeting.wish(hello);
            control.send(CopyGreeting.RELEASE.answer());
            return asked;
        } catch (SetupFailedException e) {
            // The answer tells the sender both version ranges.
            control.send(CopyGreeting.RELEASE.answer());
            throw e;
        } catch (CommandFailure e) {
            control.send(Frame.of(CopyMessage.REJECT, FailureText.of(e), 0));
            throw e;
        }
    }

    @Override
    public void prepare() throws RejectedFileException {
        if (ring == null) {
            RingSize size = memory.take(wish);
            boolean made = false;
            try {
                RdmaBuffer blocks = session.allocate(name, size.chunk(), size.depth());
                ring = new Ring(size, blocks, ByteBuffer.allocateDirect(Math.min(size.chunk(), PIECE_BYTES)));
                made = true;
                endPoint.announce(blocks, Set.of(AccessFlag.REMOTE_WRITE));
            } finally {
                if (!made) {
                    memory.give(size);
                }
            }
            send(size.toRing(name));
        }
    }

    @Override
    public void send(Frame<CopyMessage> frame) {
        control.send(frame);
    }

    @Override
    public Frame<CopyMessage> receive(Duration timeout) {
        Frame<CopyMessage> frame = control.receive(timeout);
        if (frame.kind() == CopyMessage.DATA) {
            RingSize size = ring().size();
            long index = frame.number(0);
            long length = frame.number(1);
            if (index < 0 || index >= size.depth() || length < 0 || length > size.chunk()) {
                throw CopyMessage.CODEC.protocolError();
            }
            current = (int) index;
            currentLength = (int) length;
        }
        return frame;
    }

    private Ring ring() {
        Ring agreed = ring;
        if (agreed == null) {
            throw CopyMessage.CODEC.protocolError();
        }
        return agreed;
    }

    @Override
    public void data(Sink sink) throws IOException {
        ByteBuffer block = ring().blocks().block(current).segment().asByteBuffer();
        ByteBuffer piece = ring().piece();
        for (int at = 0; at < currentLength; at += piece.limit()) {
            piece.clear().limit(Math.min(piece.capacity(), currentLength - at));
            piece.put(0, block, at, piece.limit());
            sink.accept(piece);
        }
    }

    @Override
    public void release() {
        unreturned++;
        if (unreturned >= Math.max(1, ring().size().depth() / 4)) {
            send(Frame.of(CopyMessage.CREDIT, unreturned));
            unreturned = 0;
        }
    }

    @Override
    public void close() {
        endPoint.close();
        Ring agreed = ring;
        if (agreed != null) {
            agreed.blocks().close();
            memory.give(agreed.size());
        }
        control.close();
    }
}
