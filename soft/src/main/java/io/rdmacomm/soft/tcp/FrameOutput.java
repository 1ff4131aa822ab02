package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.FpduLayout;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.soft.memory.BufferViews;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Outgoing frames. Headers, trailers and small pieces of payload are copied into one buffer; larger pieces stay in
/// registered memory. One gathering write sends them all.
///
/// ```
/// header buffer  | header 1, payload 1 (small), trailer 1, header 2 | trailer 2, header 3 | trailer 3 |
/// written        ------------------- entry 0 ---------------------  e.1  ---- entry 2 ----  e.3  entry 4
///                                                         payload 2 ^            payload 3 ^
/// ```
/// Not thread-safe.
public final class FrameOutput {
    /// The most direct pieces that one frame may have.
    public static final int MOST_PIECES = 33;
    /// The most bytes that may be copied into one frame.
    public static final int MOST_COPIED = 8 * 1024;

    // Up to this size, copying a piece costs no more than another entry of the list.
    private static final int SMALL_BYTES = 2048;
    private static final int HEADER_BYTES = 16 * 1024;
    private static final int FRAME_ROOM = FpduLayout.MAX_HEADER_BYTES + Fpdu.MAX_TRAILER_BYTES + MOST_COPIED;
    private static final int ENTRIES = 4 * MOST_PIECES;
    private static final long ENOUGH_BYTES = 1 << 20;
    // Two frames of large payload.
    private static final int FEW_ENTRIES = 4;

    private final MemorySegment memory;
    private final ByteBuffer headers;
    // Made when first used: a connection that carries little needs few.
    private final @Nullable ByteBuffer[] slices = new @Nullable ByteBuffer[ENTRIES];
    private final BufferViews views = new BufferViews(ENTRIES);
    private final @Nullable ByteBuffer[] entries = new @Nullable ByteBuffer[ENTRIES];
    private final int[] keys = new int[ENTRIES];
    private final boolean checked;
    private final FpduChecksum checksum = new FpduChecksum();
    private int first;
    private int count;
    private int sliceStart;
    private int end;
    private int frame;
    private int copied;
    private int segmentBytes;
    private long bytes;
    private long written;
    private long frames;
    private boolean full;
    private boolean halfDone;

    /// Nothing to send yet.
    ///
    /// @param checked whether frames have a checksum
    public FrameOutput(boolean checked) {
        // Not from an arena: in a gathering write, the JDK allocates for each such buffer, to keep its arena open.
        this.headers = ByteBuffer.allocateDirect(HEADER_BYTES);
        this.memory = MemorySegment.ofBuffer(headers);
        this.checked = checked;
    }

    /// Whether another frame can be added now.
    public boolean hasRoom() {
        return end <= HEADER_BYTES - FRAME_ROOM && count <= ENTRIES - 2 * MOST_PIECES - 1 && bytes < ENOUGH_BYTES;
    }

    /// Whether all frames have gone out.
    public boolean isEmpty() {
        return first == count && sliceStart == end;
    }

    /// Begins a frame with this header. Exactly its payload must follow, then [#end].
    ///
    /// @return the frame's offset in [#headers], for messages with fields after the header
    public int begin(SegmentHeader header) {
        halfDone = true;
        frame = end;
        copied = 0;
        segmentBytes = header.segmentBytes();
        header.encode(headers, frame);
        end += header.headerBytes();
        return frame;
    }

    /// Begins a Terminate.
    ///
    /// @param scratch any header
    public void terminate(SegmentHeader scratch, TerminateCode reason) {
        frame = end;
        end += TerminateMessage.encode(headers, frame, scratch, reason);
        segmentBytes = scratch.segmentBytes();
        end();
    }

    /// The memory that headers are written to.
    public ByteBuffer headers() {
        return headers;
    }

    /// Whether a piece of the payload should be copied rather than added.
    public boolean isSmall(int length) {
        return length <= Math.min(SMALL_BYTES, MOST_COPIED - copied);
    }

    /// Copies a piece of the payload; at most [#MOST_COPIED] bytes in one frame.
    public void copy(MemorySegment from, long offset, int length) {
        MemorySegment.copy(from, offset, memory, end, length);
        end += length;
        copied += length;
    }

    /// Adds a piece of the payload without copying it: it stays in place until it is sent.
    ///
    /// @param key of the memory, for the [KeyCheck]
    /// @param mayFault whether an access to it may fault
    public void add(int key, ByteBuffer window, int from, int length, boolean mayFault) {
        if (checked) {
            checksumHeader();
        }
        closeSlice();
        ByteBuffer view = views.view(count, window, from, from + length);
        if (checked) {
            if (mayFault) {
                checksum.updateByCopies(view, from, length);
            } else {
                checksum.update(view, from, length);
            }
        }
        entries[count] = view;
        keys[count] = key;
        count++;
        bytes += length;
    }

    private void checksumHeader() {
        if (frame >= 0) {
            checksum.reset();
            checksum.update(headers, frame, end - frame);
            frame = -1;
        } else if (end > sliceStart) {
            checksum.update(headers, sliceStart, end - sliceStart);
        }
    }

    /// Ends the frame.
    public void end() {
        frames++;
        halfDone = false;
        if (checked) {
            checksumHeader();
            end += Fpdu.writeTrailer(headers, end, segmentBytes, checksum);
        } else {
            end += Fpdu.writeTrailer(headers, end, segmentBytes);
        }
    }

    private void closeSlice() {
        if (end > sliceStart) {
            entries[count] = slice(count).limit(end).position(sliceStart);
            keys[count] = 0;
            count++;
            bytes += end - sliceStart;
            sliceStart = end;
        }
    }

    private ByteBuffer slice(int place) {
        ByteBuffer slice = slices[place];
        if (slice == null) {
            slice = headers.duplicate();
            slices[place] = slice;
        }
        return slice;
    }

    /// Whether everything that is still to be sent is valid. Memory may have been deregistered since, and a fault
    /// may have ended half a frame, which whatever follows would complete.
    public boolean isValid(KeyCheck valid) {
        if (halfDone) {
            return false;
        }
        for (int i = first; i < count; i++) {
            if (keys[i] != 0 && !valid.isValid(keys[i])) {
                return false;
            }
        }
        return true;
    }

    /// Whether a key may still be used.
    public interface KeyCheck {
        /// Whether `key` may still be used.
        boolean isValid(int key);
    }

    /// Writes as much as the socket takes.
    ///
    /// @return whether everything has gone out
    public boolean flush(GatheringByteChannel channel) throws IOException {
        closeSlice();
        while (first < count) {
            // Listing what a full socket will not take costs time, and 40 bytes of heap for a caller's own memory.
            int to = full ? Math.min(count, first + FEW_ENTRIES) : count;
            full = !write(channel, to);
            if (full) {
                return false;
            }
        }
        first = 0;
        count = 0;
        sliceStart = 0;
        end = 0;
        bytes = 0;
        return true;
    }

    /// Writes the entries before `to`, in one call.
    ///
    /// @return whether all of them have gone out
    private boolean write(GatheringByteChannel channel, int to) throws IOException {
        ByteBuffer only = to - first == 1 ? entries[first] : null;
        written += only != null ? channel.write(only) : channel.write(entries, first, to - first);
        while (first < to) {
            ByteBuffer entry = entries[first];
            if (entry != null && entry.hasRemaining()) {
                return false;
            }
            first++;
        }
        return true;
    }

    /// The number of bytes that the socket has taken so far.
    public long written() {
        return written;
    }

    /// The number of frames added so far.
    public long frames() {
        return frames;
    }

    /// Forgets everything, also the memory of the payload.
    public void clear() {
        Arrays.fill(entries, null);
        views.clear();
        first = 0;
        count = 0;
        sliceStart = 0;
        end = 0;
    }
}
