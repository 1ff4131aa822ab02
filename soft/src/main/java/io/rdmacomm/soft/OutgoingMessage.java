package io.rdmacomm.soft;

import io.rdmacomm.soft.iwarp.FpduLayout;
import io.rdmacomm.soft.iwarp.FrameOutput;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A message with payload on its way out, cut into segments: a Send, a Write, or a Read Response.
final class OutgoingMessage {
    // Segments of whole cache lines keep the copies on both sides aligned.
    private static final int LINE = 64;

    private final SoftContext context;
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
    OutgoingMessage(SoftContext context, int segmentLimit) {
        this.context = context;
        this.mostPayload = mostPayload(segmentLimit);
    }

    /// The payload of all segments but the last.
    static int mostPayload(int segmentLimit) {
        int room = segmentLimit - (FpduLayout.UNTAGGED_BYTES - FpduLayout.DDP_CONTROL);
        return room >= LINE ? room & -LINE : room;
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

    /// Has the payload sent only while this key is valid, too: that of a window.
    void onlyWhileValid(int windowKey) {
        sourceKey = windowKey;
    }

    /// Whether segments are left.
    boolean isActive() {
        return active;
    }

    /// Leaves the rest out.
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
        if (sourceKey != 0 && !context.isValid(sourceKey)) {
            return false;
        }
        long covered = -done;
        for (int i = index; i < from.count && covered < payload; i++) {
            if (from.keys[i] != 0 && context.regions().find(from.keys[i]) == null) {
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
            SoftMemoryRegion region =
                    from.keys[index] == 0 ? null : context.regions().find(from.keys[index]);
            MemorySegment segment = from.segments[index];
            if (segment != null && (region == null || out.isSmall(piece))) {
                out.copy(segment, offset, piece);
            } else if (region != null) {
                out.add(
                        sourceKey != 0 ? sourceKey : from.keys[index],
                        region.window(offset),
                        SoftMemoryRegion.inWindow(offset),
                        piece);
            }
            rest -= piece;
            done += piece;
            if (done == from.lengths[index]) {
                index++;
                done = 0;
            }
        }
    }
}
