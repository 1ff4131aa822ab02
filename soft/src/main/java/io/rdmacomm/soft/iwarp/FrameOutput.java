package io.rdmacomm.soft.iwarp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Frames on their way out. Headers, trailers and small pieces of payload are written into one buffer, larger
/// pieces stay where they are; all together is one gathered write, from registered memory straight into the
/// socket.
///
/// ```
/// header buffer  | header 1, payload 1 (small), trailer 1, header 2 | trailer 2, header 3 | trailer 3 |
/// written        ------------------- entry 0 ---------------------  e.1  ---- entry 2 ----  e.3  entry 4
///                                                         payload 2 ^            payload 3 ^
/// ```
/// One thread at a time.
public final class FrameOutput {
    /// Pieces of payload up to this size are copied: a further entry of the list costs more.
    public static final int COPIED_BYTES = 256;
    /// The most direct pieces that one frame may have.
    public static final int MOST_PIECES = 33;
    /// The most bytes that may be copied into one frame.
    public static final int MOST_COPIED = MOST_PIECES * COPIED_BYTES;

    private static final int HEADER_BYTES = 16 * 1024;
    private static final int FRAME_ROOM = FpduLayout.MAX_HEADER_BYTES + Fpdu.MAX_TRAILER_BYTES + MOST_COPIED;
    private static final int ENTRIES = 4 * MOST_PIECES;
    private static final long ENOUGH_BYTES = 1 << 20;

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
    private int segmentBytes;
    private long bytes;
    private long written;

    /// Nothing to send yet.
    ///
    /// @param memory for the headers, [#memoryBytes] long
    /// @param checked whether frames have a checksum
    public FrameOutput(MemorySegment memory, boolean checked) {
        this.memory = memory;
        this.headers = memory.asByteBuffer();
        this.checked = checked;
    }

    /// How much memory it needs for headers.
    public static int memoryBytes() {
        return HEADER_BYTES;
    }

    /// Whether another frame can be added now.
    public boolean hasRoom() {
        return end <= HEADER_BYTES - FRAME_ROOM && count <= ENTRIES - 2 * MOST_PIECES - 1 && bytes < ENOUGH_BYTES;
    }

    /// Whether all frames have gone out.
    public boolean isEmpty() {
        return first == count && sliceStart == end;
    }

    /// Begins a frame with this header; to be followed by exactly its payload, and [#end].
    ///
    /// @return where in [#headers] the frame begins, for what follows the header of some messages
    public int begin(SegmentHeader header) {
        frame = end;
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

    /// Where headers are written.
    public ByteBuffer headers() {
        return headers;
    }

    /// Copies a piece of the payload; at most [#MOST_COPIED] bytes in one frame.
    public void copy(MemorySegment from, long offset, int length) {
        MemorySegment.copy(from, offset, memory, end, length);
        end += length;
    }

    /// Adds a piece of the payload that stays where it is until it has gone out.
    ///
    /// @param key of the memory, for the [KeyCheck]
    public void add(int key, ByteBuffer window, int from, int length) {
        if (checked) {
            checksumHeader();
        }
        closeSlice();
        ByteBuffer view = views.view(count, window, from, from + length);
        if (checked) {
            checksum.update(view, from, length);
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

    /// Whether all memory that is still to be sent is allowed by `valid`: it may have been deregistered since.
    public boolean isValid(KeyCheck valid) {
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

    /// Writes as much as the socket takes, in one call.
    ///
    /// @return whether everything has gone out
    public boolean flush(GatheringByteChannel channel) throws IOException {
        closeSlice();
        if (first == count) {
            return true;
        }
        ByteBuffer only = count - first == 1 ? entries[first] : null;
        written += only != null ? channel.write(only) : channel.write(entries, first, count - first);
        while (first < count) {
            ByteBuffer entry = entries[first];
            if (entry != null && entry.hasRemaining()) {
                return false;
            }
            first++;
        }
        first = 0;
        count = 0;
        sliceStart = 0;
        end = 0;
        bytes = 0;
        return true;
    }

    /// How many bytes the socket has taken so far.
    public long written() {
        return written;
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
