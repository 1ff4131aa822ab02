package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.cli.wire.FrameChannel;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.Session;
import java.nio.ByteBuffer;
import java.time.Duration;

/// The receiver's end over RDMA: announces a ring of blocks that the sender writes into, and returns blocks that are
/// free again as credit.
public final class RdmaReceiverLink implements ReceiverLink {
    private final EndPoint endPoint;
    private final FrameChannel<CopyMessage> control;
    private final RdmaBuffer ring;
    private int current;
    private int currentLength;
    private int unreturned;

    /// Allocates the ring that the sender asks for, and announces it.
    ///
    /// @param id distinguishes the buffers of several senders
    public RdmaReceiverLink(Session session, EndPoint endPoint, long id) {
        this.endPoint = endPoint;
        this.control =
                new FrameChannel<>(session, endPoint.channel(0), CopyMessage.CODEC, "copy control " + id, PATIENCE);
        try {
            this.ring = agree(session, control.receive(), "copy blocks " + id);
        } catch (RuntimeException e) {
            control.close();
            throw e;
        }
    }

    private RdmaBuffer agree(Session session, Frame<CopyMessage> hello, String name) {
        try {
            RingSize size = RingSize.of(hello);
            RdmaBuffer blocks = session.allocate(name, size.chunk(), size.depth());
            endPoint.announce(blocks);
            control.send(size.toHello(name));
            return blocks;
        } catch (RuntimeException e) {
            control.send(Frame.of(CopyMessage.REJECT, FailureText.of(e)));
            throw e;
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
            long index = frame.number(0);
            long length = frame.number(1);
            if (index < 0 || index >= ring.blockCount() || length < 0 || length > ring.blockSize()) {
                throw CopyMessage.CODEC.protocolError();
            }
            current = (int) index;
            currentLength = (int) length;
        }
        return frame;
    }

    @Override
    public ByteBuffer data() {
        return ring.block(current).segment().asByteBuffer().limit(currentLength);
    }

    @Override
    public void release() {
        unreturned++;
        if (unreturned >= Math.max(1, ring.blockCount() / 4)) {
            send(Frame.of(CopyMessage.CREDIT, unreturned));
            unreturned = 0;
        }
    }

    @Override
    public void close() {
        endPoint.close();
        ring.close();
        control.close();
    }
}
