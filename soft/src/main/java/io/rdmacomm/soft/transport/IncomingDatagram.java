package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.GlobalRoutingHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// The last datagram read, from an untrusted sender. Reused for each datagram; only the receiving thread uses it.
public final class IncomingDatagram {
    /// The [GlobalRoutingHeader] that the receive begins with.
    public final MemorySegment header = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(GlobalRoutingHeader.BYTES));
    /// The memory that contains the payload.
    public final MemorySegment memory;
    /// The offset of the payload in [#memory].
    public int payloadAt;
    /// The length of the payload.
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
    /// Immediate data, as sent with the most significant byte first.
    public int immediate;
    /// Whether the completion is a solicited event.
    public boolean solicited;

    /// @param memory where payloads will be
    public IncomingDatagram(MemorySegment memory) {
        this.memory = memory;
    }

    /// A queue pair that takes datagrams.
    public interface Target {
        /// A datagram for it has arrived, with an unchecked queue key; the receiving thread, without any queue
        /// pair's lock.
        void arrived(IncomingDatagram datagram);
    }
}
