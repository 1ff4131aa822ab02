package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.Violation;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import org.jspecify.annotations.Nullable;

/// Reads frames from a socket. Headers are read into a small buffer. Once a header is checked, its payload is read
/// straight to its destination. Payload that came with the header is copied from the buffer: many small messages take
/// one read, and at most a few dozen bytes of a large message are copied.
///
/// With checksums, the buffer grows to hold a whole frame. It has no effect before its checksum is verified, as the
/// damage may be in the key or the address.
///
/// Not thread-safe.
public final class FrameInput {
    /// [#read]: nothing has arrived.
    public static final int IDLE = 0;
    /// [#read]: something has arrived.
    public static final int PROGRESS = 1;
    /// [#read]: the stream has ended.
    public static final int END = 2;
    /// [#read]: the receiver has stopped.
    public static final int STOPPED = 3;

    /// Handles the frames.
    public interface Receiver {
        /// A header has arrived.
        ///
        /// @param header its fields; valid until [#end]
        /// @param from holds all of the header, and what follows the header of some messages
        /// @param at the first byte of the frame
        /// @return [#PLACE], [#DISCARD] or [#STOP]
        int begin(SegmentHeader header, ByteBuffer from, int at);

        /// The next bytes of the payload have arrived.
        ///
        /// @return false to stop
        boolean place(MemorySegment from, long offset, int bytes);

        /// The target for the next bytes of the payload.
        ///
        /// @param bytes the most that there are
        /// @return a contiguous part of at most that length; null to stop
        @Nullable
        ByteBuffer target(int bytes);

        /// Reports that this many bytes were read into the last target.
        void placed(int bytes);

        /// The frame is complete and was not discarded.
        ///
        /// @return false to stop
        boolean end(SegmentHeader header);

        /// The frame violates the protocol: the stream cannot continue.
        void violation(Violation violation);
    }

    /// [Receiver#begin]: the payload is wanted.
    public static final int PLACE = 0;
    /// [Receiver#begin]: the payload is not wanted.
    public static final int DISCARD = 1;
    /// [Receiver#begin]: nothing more is wanted.
    public static final int STOP = 2;

    private static final int BUFFER_BYTES = 8 * 1024;
    private static final int LARGE_BYTES = 4096;
    private static final int DIRECT_BYTES = 512;
    // Read beyond a large payload: its trailer and the next header, so that the next payload is read directly, and
    // whatever else TCP has put into the same segment, so that one read takes all of it.
    private static final int LOOK_AHEAD = 2048;
    private static final long BUDGET = 1 << 20;

    private enum Phase {
        HEADER,
        CHECKSUM,
        PAYLOAD,
        TRAILER
    }

    private final Receiver receiver;
    private final boolean checked;
    private final SegmentHeader header = new SegmentHeader();
    private final FpduChecksum checksum = new FpduChecksum();
    private ByteBuffer in;
    private MemorySegment memory;
    private Phase phase = Phase.HEADER;
    private int start;
    private int end;
    private int segmentBytes;
    private int payloadLeft;
    private boolean discarding;
    private boolean large;
    private long bytes;
    private long frames;
    // Never set during a stream: more arrives while data is copied, and another read is cheaper than a wait.
    private boolean drained;

    /// Waits for the first frame.
    ///
    /// @param checked whether frames have a checksum
    public FrameInput(boolean checked, Receiver receiver) {
        // Not from an arena: see FrameOutput.
        this.in = ByteBuffer.allocateDirect(BUFFER_BYTES);
        this.memory = MemorySegment.ofBuffer(in);
        this.checked = checked;
        this.receiver = receiver;
    }

    /// Whether the stream is between two frames.
    public boolean isBetweenFrames() {
        return phase == Phase.HEADER && start == end;
    }

    /// The number of bytes that the socket has delivered so far.
    public long bytes() {
        return bytes;
    }

    /// The number of frames that have arrived so far.
    public long frames() {
        return frames;
    }

    /// Reads what has arrived, up to about a megabyte.
    ///
    /// @return [#IDLE], [#PROGRESS], [#END] or [#STOPPED]
    public int read(ReadableByteChannel channel) throws IOException {
        long left = BUDGET;
        int result = IDLE;
        do {
            long count = phase == Phase.PAYLOAD ? readPayload(channel) : readHeaders(channel);
            if (count < 0) {
                return count == -1 ? END : STOPPED;
            }
            if (count == 0) {
                return result;
            }
            result = PROGRESS;
            bytes += count;
            left -= count;
            if (!parse()) {
                return STOPPED;
            }
        } while (!drained && left > 0);
        return result;
    }

    private long readHeaders(ReadableByteChannel channel) throws IOException {
        if (start > 0) {
            MemorySegment.copy(memory, start, memory, 0, end - start);
            end -= start;
            start = 0;
        }
        int limit = large ? limitOfLarge() : BUFFER_BYTES;
        in.limit(limit).position(end);
        int count = channel.read(in);
        drained = in.hasRemaining() && !large;
        end += Math.max(0, count);
        return count;
    }

    private int limitOfLarge() {
        int wanted = end;
        if (phase == Phase.CHECKSUM) {
            wanted = Fpdu.bytes(segmentBytes);
            if (wanted > in.capacity()) {
                grow();
            }
        }
        return Math.min(in.capacity(), wanted + LOOK_AHEAD);
    }

    /// Grows the buffer to hold any frame, when the first large one comes: most connections have none.
    private void grow() {
        ByteBuffer larger = ByteBuffer.allocateDirect(Fpdu.bytes(Fpdu.MAX_SEGMENT_BYTES) + LOOK_AHEAD);
        larger.put(0, in, 0, end);
        in = larger;
        memory = MemorySegment.ofBuffer(larger);
    }

    /// Reads the payload, one piece at a time. A scattering read is not faster, and the JDK allocates for each of its
    /// buffers that belongs to an arena. Small pieces come through the small buffer, many at once.
    private long readPayload(ReadableByteChannel channel) throws IOException {
        start = 0;
        end = 0;
        ByteBuffer target = discarding ? in : receiver.target(payloadLeft);
        if (target == null) {
            return -2;
        }
        if (discarding || target.remaining() < DIRECT_BYTES) {
            in.limit(Math.min(BUFFER_BYTES, payloadLeft + LOOK_AHEAD)).position(0);
            int count = channel.read(in);
            drained = in.hasRemaining();
            end = Math.max(0, count);
            return count;
        }
        int count = channel.read(target);
        drained = target.hasRemaining() && !large;
        if (count > 0) {
            payloadLeft -= count;
            receiver.placed(count);
        }
        return count;
    }

    /// Parses the bytes that have arrived.
    ///
    /// @return false if the receiver has stopped
    private boolean parse() {
        while (true) {
            switch (phase) {
                case HEADER -> {
                    if (SegmentHeader.missing(in, start, end - start) > 0) {
                        return true;
                    }
                    if (!decodeHeader()) {
                        return false;
                    }
                }
                case CHECKSUM -> {
                    if (checked && end - start < Fpdu.bytes(segmentBytes)) {
                        return true;
                    }
                    if (!check() || !beginFrame()) {
                        return false;
                    }
                }
                case PAYLOAD -> {
                    if (!takePayload()) {
                        return false;
                    }
                    if (payloadLeft > 0) {
                        return true;
                    }
                    phase = Phase.TRAILER;
                }
                case TRAILER -> {
                    if (end - start < Fpdu.trailerBytes(segmentBytes)) {
                        return true;
                    }
                    if (!endFrame()) {
                        return false;
                    }
                }
            }
        }
    }

    private boolean decodeHeader() {
        Violation violation = header.decode(in, start);
        if (violation != Violation.NONE) {
            receiver.violation(violation);
            return false;
        }
        segmentBytes = header.segmentBytes();
        payloadLeft = header.payloadBytes;
        large = payloadLeft >= LARGE_BYTES;
        phase = Phase.CHECKSUM;
        return true;
    }

    private boolean check() {
        if (!checked) {
            return true;
        }
        int covered = Fpdu.bytes(segmentBytes) - Fpdu.trailerBytes(segmentBytes);
        checksum.reset();
        checksum.update(in, start, covered);
        Violation violation = Fpdu.checkTrailer(in, start + covered, segmentBytes, checksum);
        if (violation != Violation.NONE) {
            receiver.violation(violation);
            return false;
        }
        return true;
    }

    private boolean beginFrame() {
        int answer = receiver.begin(header, in, start);
        if (answer == STOP) {
            return false;
        }
        discarding = answer == DISCARD;
        start += header.headerBytes();
        phase = Phase.PAYLOAD;
        return true;
    }

    private boolean takePayload() {
        int bytes = Math.min(end - start, payloadLeft);
        if (bytes == 0) {
            return true;
        }
        if (!discarding && !receiver.place(memory, start, bytes)) {
            return false;
        }
        start += bytes;
        payloadLeft -= bytes;
        return true;
    }

    private boolean endFrame() {
        start += Fpdu.trailerBytes(segmentBytes);
        frames++;
        phase = Phase.HEADER;
        return discarding || receiver.end(header);
    }
}
