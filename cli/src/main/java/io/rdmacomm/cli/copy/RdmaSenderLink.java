package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The sender's end over RDMA: WRITEs each chunk straight into a ring of blocks that the receiver has announced,
/// and sends a DATA message for each. It may reuse a block when the receiver has returned it as CREDIT. The DATA
/// message is separate from the WRITE, because iWARP has no WRITE with immediate data. For one thread; in some
/// thread modes another one runs the handlers.
final class RdmaSenderLink implements SenderLink {
    private final EndPoint endPoint;
    private final RdmaChannel channel;
    private final FrameChannel<CopyMessage> control;
    private final Session session;
    private final RingSize wish;
    private @Nullable Ring ring;
    private final Deque<Frame<CopyMessage>> received = new ArrayDeque<>();
    private final CompletionHandler written = this::onWritten;
    private final CompletionHandler noticed = this::onNoticed;
    private final AtomicLong completed = new AtomicLong();
    private long sent;
    private long credited;
    private volatile @Nullable WorkStatus failure;

    /// The memory of both sides for the transfer.
    ///
    /// @param notices the DATA messages
    /// @param local the blocks of this side
    /// @param remote those of the receiver
    private record Ring(RdmaBuffer notices, RdmaBuffer local, RemoteBuffer remote, List<ByteBuffer> blocks) {
        private static Ring make(Session session, EndPoint endPoint, RingSize size, String remote) {
            RemoteBuffer there = endPoint.peerBuffer(remote, TIMEOUT);
            RdmaBuffer notices = session.allocate("copy notices", FrameCodec.MAX_BYTES, size.depth());
            RdmaBuffer local = session.allocate("copy blocks", size.chunk(), size.depth());
            List<ByteBuffer> blocks = IntStream.range(0, size.depth())
                    .mapToObj(i -> local.block(i).segment().asByteBuffer())
                    .toList();
            return new Ring(notices, local, there, blocks);
        }

        private void close() {
            local.close();
            notices.close();
        }
    }

    /// Greets the receiver.
    ///
    /// @param wish the largest ring of blocks that this side wants
    RdmaSenderLink(Session session, EndPoint endPoint, RingSize wish) {
        this.session = session;
        this.wish = wish;
        this.endPoint = endPoint;
        this.channel = endPoint.channel(0);
        this.control = new FrameChannel<>(session, channel, CopyMessage.CODEC, "copy control", TIMEOUT);
        control.send(CopyGreeting.RELEASE.ask(wish));
        Frame<CopyMessage> answer = control.expect(CopyMessage.HELLO, CopyMessage.REJECT);
        var _ = CopyGreeting.RELEASE.agree(answer, "the receiver");
    }

    @Override
    public void send(Frame<CopyMessage> frame) {
        control.send(frame);
    }

    @Override
    public Frame<CopyMessage> receive(Duration timeout) {
        Frame<CopyMessage> frame = received.poll();
        while (frame == null) {
            frame = takeCredit(control.receive(timeout));
        }
        return frame;
    }

    @Override
    public @Nullable Frame<CopyMessage> poll() {
        return received.isEmpty() ? pollChannel() : received.poll();
    }

    private @Nullable Frame<CopyMessage> pollChannel() {
        channel.poll();
        Frame<CopyMessage> frame = null;
        while (frame == null) {
            try (Message message = channel.tryReceive()) {
                if (message == null) {
                    return null;
                }
                frame = takeCredit(CopyMessage.CODEC.read(message.segment()));
            }
        }
        return frame;
    }

    /// Handles a message about the ring and returns null; returns any other message.
    private @Nullable Frame<CopyMessage> takeCredit(Frame<CopyMessage> frame) {
        switch (frame.kind()) {
            case CREDIT -> credited += frame.number(0);
            case RING -> {
                if (ring != null) {
                    throw CopyMessage.CODEC.protocolError();
                }
                ring = Ring.make(session, endPoint, wish.chosen(frame), frame.text());
            }
            default -> {
                return frame;
            }
        }
        return null;
    }

    private Ring ring() {
        Ring agreed = ring;
        if (agreed == null) {
            throw CopyMessage.CODEC.protocolError();
        }
        return agreed;
    }

    @Override
    public ByteBuffer block() {
        List<ByteBuffer> blocks = ring().blocks();
        while (sent - credited >= blocks.size()) {
            awaitCredit();
        }
        // The receiver has credited it, so it has arrived there and completes here in a moment.
        WaitLoop waitLoop = new WaitLoop(TIMEOUT);
        while (sent - completed.get() >= blocks.size()) {
            makeProgress(waitLoop);
        }
        return blocks.get((int) (sent % blocks.size())).clear();
    }

    /// Waits for the next message in the session's work mode, and keeps it for later unless it is about the ring.
    private void awaitCredit() {
        checkFailure();
        try {
            Frame<CopyMessage> frame = takeCredit(control.receive(TIMEOUT));
            if (frame != null) {
                received.add(frame);
            }
        } catch (DeadlineException e) {
            throw WaitLoop.silent(TIMEOUT, e);
        }
    }

    @Override
    public void sendBlock(ByteBuffer block, long file) {
        Ring agreed = ring();
        int index = (int) (sent % agreed.blocks().size());
        BufferSlice whole = agreed.local().block(index);
        BufferSlice data = block.position() == whole.length() ? whole : whole.slice(0, block.position());
        BufferSlice notice = agreed.notices().block(index);
        int length = CopyMessage.CODEC.write(Frame.of(CopyMessage.DATA, index, data.length(), file), notice.segment());
        WaitLoop waitLoop = new WaitLoop(TIMEOUT);
        while (!channel.tryWrite(data, agreed.remote(), index * whole.length(), written, 0)
                .isAccepted()) {
            makeProgress(waitLoop);
        }
        while (!channel.trySend(notice.slice(0, length), noticed, 0).isAccepted()) {
            makeProgress(waitLoop);
        }
        sent++;
        checkFailure();
    }

    /// Polls once while an operation has to wait, and keeps any message for later.
    private void makeProgress(WaitLoop waitLoop) {
        checkFailure();
        Frame<CopyMessage> frame = pollChannel();
        if (frame != null) {
            received.add(frame);
        } else {
            waitLoop.pause();
        }
    }

    private void onWritten(RdmaChannel on, long context, WorkStatus status, long result) {
        if (status != WorkStatus.SUCCESS && failure == null) {
            failure = status;
        }
    }

    /// Operations of a channel complete in order, so the WRITE of the data has completed as well.
    private void onNoticed(RdmaChannel on, long context, WorkStatus status, long result) {
        onWritten(on, context, status, result);
        completed.incrementAndGet();
    }

    private void checkFailure() {
        RdmaException cause = endPoint.failure();
        if (cause != null) {
            throw new ClosedException(String.valueOf(cause.getMessage()), cause);
        }
        channel.checkOpen();
        if (failure != null) {
            throw new CommandFailure("writing to the receiver failed: " + failure);
        }
    }

    @Override
    public void close() {
        endPoint.close();
        if (ring != null) {
            ring.close();
        }
        control.close();
    }
}
