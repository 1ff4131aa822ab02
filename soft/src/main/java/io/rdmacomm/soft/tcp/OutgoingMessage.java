package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// An outgoing message with payload, cut into segments: a Send, a Write, or a Read Response.
final class OutgoingMessage {
    private final LocalMemory memory;
    private final int mostPayload;
    private final SegmentHeader header = new SegmentHeader();
    private boolean active;
    private int opcode;
    private int key;
    private int number;
    private long address;
    private long sent;
    private long left;
    private @Nullable ElementList source;
    private int index;
    private long done;
    private int sourceKey;

    /// Nothing to send yet.
    ///
    /// @param segmentLimit the longest segment, in bytes
    OutgoingMessage(LocalMemory memory, int segmentLimit) {
        this.memory = memory;
        this.mostPayload = LinkTerms.mostPayload(segmentLimit);
    }

    /// A Write or Read Response.
    ///
    /// @param sinkKey the peer's memory
    /// @param sinkAddress where in it
    void beginTagged(int newOpcode, int sinkKey, long sinkAddress, ElementList from) {
        begin(newOpcode, sinkKey, from);
        address = sinkAddress;
    }

    /// A Send.
    ///
    /// @param upperLayer the key to invalidate, immediate data, or 0
    void beginUntagged(int newOpcode, int upperLayer, int messageNumber, ElementList from) {
        begin(newOpcode, upperLayer, from);
        number = messageNumber;
    }

    private void begin(int newOpcode, int newKey, ElementList from) {
        active = true;
        opcode = newOpcode;
        key = newKey;
        source = from;
        sent = 0;
        left = from.total;
        index = 0;
        done = 0;
        sourceKey = 0;
    }

    /// Sends payload only while this window's key is valid, too.
    void onlyWhileValid(int windowKey) {
        sourceKey = windowKey;
    }

    /// Whether segments are left.
    boolean isActive() {
        return active;
    }

    /// Drops the rest of the message.
    void cancel() {
        active = false;
        source = null;
    }

    /// Adds the next segment.
    ///
    /// @return false if the memory of the payload is gone; nothing was added then
    boolean writeFrame(FrameOutput out) {
        ElementList from = source;
        int payload = (int) Math.min(left, mostPayload);
        if (from == null || !isThere(from, payload)) {
            return false;
        }
        boolean last = payload == left;
        if (Opcode.isTagged(opcode)) {
            header.setTagged(opcode, last, key, address + sent, payload);
        } else {
            header.setUntagged(opcode, number);
            header.last = last;
            header.key = key;
            header.messageOffset = (int) sent;
            header.payloadBytes = payload;
        }
        out.begin(header);
        gather(out, from, payload);
        out.end();
        sent += payload;
        left -= payload;
        if (last) {
            cancel();
        }
        return true;
    }

    private boolean isThere(ElementList from, int payload) {
        if (sourceKey != 0 && !memory.isValid(sourceKey)) {
            return false;
        }
        long covered = -done;
        for (int i = index; i < from.count && covered < payload; i++) {
            if (from.keys[i] != 0 && memory.region(from.keys[i]) == null) {
                return false;
            }
            covered += from.lengths[i];
        }
        return true;
    }

    private void gather(FrameOutput out, ElementList from, int payload) {
        int rest = payload;
        while (rest > 0) {
            int piece = (int) Math.min(rest, from.lengths[index] - done);
            long offset = from.offsets[index] + done;
            LocalRegion region = from.keys[index] == 0 ? null : memory.region(from.keys[index]);
            MemorySegment segment = from.segments[index];
            if (segment != null && (region == null || out.isSmall(piece))) {
                out.copy(segment, offset, piece);
            } else if (region != null) {
                out.add(
                        sourceKey != 0 ? sourceKey : from.keys[index],
                        region.buffer(offset),
                        LocalRegion.inBuffer(offset),
                        piece,
                        region.mayFault());
            }
            rest -= piece;
            done += piece;
            if (done == from.lengths[index]) {
                index++;
                done = 0;
            }
        }
        from.throwFault();
    }
}
