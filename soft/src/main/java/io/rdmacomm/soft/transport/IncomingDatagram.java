package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.GlobalRoutingHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// The datagram that was read last, from an untrusted sender. Reused for each; the thread that receives.
public final class IncomingDatagram {
    /// The [GlobalRoutingHeader] that the receive begins with.
    public final MemorySegment header = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(GlobalRoutingHeader.BYTES));
    /// Where the payload is.
    public final MemorySegment memory;
    /// Where in [#memory] it begins.
    public int payloadAt;
    /// Its length.
    public int payloadBytes;
    /// The number of the queue pair that it is for.
    public int destination;
    /// The number of the queue pair that has sent it.
    public int source;
    /// The LID of the sender, 0 over RoCE.
    public int sourceLid;
    /// The queue key in the datagram, which may be wrong.
    public int queueKey;
    /// Whether it has immediate data.
    public boolean hasImmediate;
    /// Immediate data, the value that was sent most significant byte first.
    public int immediate;
    /// Whether the completion is a solicited event.
    public boolean solicited;

    /// @param memory where payloads will be
    public IncomingDatagram(MemorySegment memory) {
        this.memory = memory;
    }

    /// A queue pair that takes datagrams.
    public interface Target {
        /// A datagram for it has come, with any queue key; the thread that receives, without the lock of any queue
        /// pair.
        void arrived(IncomingDatagram datagram);
    }
}
