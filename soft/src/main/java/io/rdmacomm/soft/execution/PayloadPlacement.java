package io.rdmacomm.soft.execution;

import io.rdmacomm.soft.memory.BufferViews;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Places the payload of an incoming message into pieces of registered memory, in order. Checks before each step
/// that the memory is still registered. Sends, Writes and Read Responses have one each, because a peer may
/// interleave their segments (RFC 5041 5.3).
public final class PayloadPlacement {
    private static final int VIEWS = 16;

    private final ElementList pieces;
    private final LocalMemory memory;
    private final BufferViews views;
    private int index;
    private long done;
    private int key;

    /// @param mostPieces how many pieces a message may go to
    public PayloadPlacement(LocalMemory memory, int mostPieces) {
        this.memory = memory;
        this.pieces = new ElementList(mostPieces);
        this.views = new BufferViews(Math.min(mostPieces, VIEWS));
    }

    /// The pieces, which the caller finds.
    public ElementList pieces() {
        return pieces;
    }

    /// Starts again, without pieces.
    public void clear() {
        pieces.clear();
        index = 0;
        done = 0;
        key = 0;
    }

    /// Places payload only while this window's key is valid, too.
    public void onlyWhileValid(int windowKey) {
        key = windowKey;
    }

    /// Copies bytes that came with a header.
    ///
    /// @return false if the memory is gone
    public boolean copy(MemorySegment from, long offset, int bytes) {
        long at = offset;
        long left = bytes;
        while (left > 0) {
            LocalRegion region = current();
            if (region == null) {
                return false;
            }
            long piece = Math.min(left, pieces.lengths[index] - done);
            ElementList.copyPiece(from, at, region.segment(), pieces.offsets[index] + done, piece);
            advance(piece);
            at += piece;
            left -= piece;
        }
        pieces.throwFault();
        return true;
    }

    /// A buffer for the next contiguous bytes, at most `bytes`; null if the memory is gone.
    public @Nullable ByteBuffer target(int bytes) {
        LocalRegion region = current();
        if (region == null) {
            return null;
        }
        int piece = (int) Math.min(bytes, pieces.lengths[index] - done);
        long offset = pieces.offsets[index] + done;
        int from = LocalRegion.inBuffer(offset);
        return views.view(index % VIEWS, region.buffer(offset), from, from + piece);
    }

    /// Continues at `offset` within all pieces.
    public void seek(long offset) {
        index = 0;
        done = 0;
        advance(offset);
    }

    /// Advances by bytes that were placed.
    public void advance(long bytes) {
        long left = bytes;
        while (left > 0) {
            long here = Math.min(left, pieces.lengths[index] - done);
            done += here;
            left -= here;
            if (done == pieces.lengths[index]) {
                index++;
                done = 0;
            }
        }
    }

    private @Nullable LocalRegion current() {
        return index < pieces.count ? find(index) : null;
    }

    private @Nullable LocalRegion find(int piece) {
        if (key != 0 && !memory.isValid(key)) {
            return null;
        }
        return memory.region(pieces.keys[piece]);
    }

    /// Releases all memory.
    public void release() {
        clear();
        views.clear();
    }
}
