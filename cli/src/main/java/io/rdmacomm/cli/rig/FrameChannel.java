package io.rdmacomm.cli.rig;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MovableSlice;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;
import java.time.Duration;

/// Sends and receives the control messages of one protocol over a channel. For one thread.
///
/// @param <K> the kinds of message of the protocol
public final class FrameChannel<K extends Enum<K>> implements AutoCloseable {
    private final RdmaChannel channel;
    private final FrameCodec<K> codec;
    private final Duration timeout;
    private final RdmaBuffer buffer;
    private final MovableSlice outgoing;

    /// Messages over `channel`, which belongs to `session`.
    ///
    /// @param bufferName the name of the send buffer; unique within the session
    /// @param timeout how long to wait for the peer
    public FrameChannel(
            Session session, RdmaChannel channel, FrameCodec<K> codec, String bufferName, Duration timeout) {
        this.channel = channel;
        this.codec = codec;
        this.timeout = timeout;
        this.buffer = session.allocate(bufferName, FrameCodec.MAX_BYTES);
        this.outgoing = buffer.whole().movable();
    }

    /// Sends a message. Blocks until it has been sent.
    public void send(Frame<K> frame) {
        int length = codec.write(frame, buffer.segment());
        channel.blocking(timeout).send(outgoing.at(0, length));
    }

    /// Waits for the next message.
    public Frame<K> receive() {
        return receive(timeout);
    }

    /// Waits for the next message, but no longer than `timeout`.
    public Frame<K> receive(Duration timeout) {
        try (Message message = channel.blocking(timeout).receive()) {
            return codec.read(message.segment());
        }
    }

    /// Waits for the next message, which must be of `kind`.
    ///
    /// @param refusal the kind of message that rejects the request; its text is the reason
    /// @throws CommandFailure if the message is of another kind
    public Frame<K> expect(K kind, K refusal) {
        Frame<K> frame = receive();
        if (frame.kind() == refusal) {
            throw new CommandFailure("the peer reports: " + frame.text());
        }
        if (frame.kind() != kind) {
            throw new CommandFailure("the peer sent " + frame.kind() + " instead of " + kind
                    + ": run the same version of rdmacomm on both sides");
        }
        return frame;
    }

    @Override
    public void close() {
        buffer.close();
    }
}
