package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Reads a request or reply piece by piece. Requests only the bytes of the frame: later ones are already part of
/// the stream, and may come in the same TCP segment. Memory is bounded by the longest frame.
///
/// ```java
/// while (!reader.advance()) {
///     channel.read(reader.buffer());
/// }
/// ```
public final class MpaFrameReader {
    private final MpaFrame.Kind kind;
    private final ByteBuffer buffer = ByteBuffer.allocate(MpaFrame.HEADER_BYTES + MpaFrame.MAX_PRIVATE_DATA);
    private @Nullable MpaFrame frame;
    private int checked;

    /// Waits for a frame of this kind.
    public MpaFrameReader(MpaFrame.Kind kind) {
        this.kind = kind;
        buffer.limit(MpaFrame.HEADER_BYTES);
    }

    /// The buffer for the next bytes; has room for those that are certainly missing.
    public ByteBuffer buffer() {
        return buffer;
    }

    /// Checks what has arrived.
    ///
    /// @return whether the frame is complete
    /// @throws MpaException as soon as it cannot become one
    public boolean advance() throws MpaException {
        checkKey();
        if (buffer.hasRemaining()) {
            return false;
        }
        if (buffer.position() == MpaFrame.HEADER_BYTES) {
            buffer.limit(MpaFrame.HEADER_BYTES + privateDataLength());
        }
        if (buffer.hasRemaining()) {
            return false;
        }
        frame = MpaFrame.decode(kind, buffer.duplicate().flip());
        return true;
    }

    /// The frame.
    ///
    /// @throws IllegalStateException if it is not complete
    public MpaFrame frame() {
        MpaFrame complete = frame;
        if (complete == null) {
            throw new IllegalStateException("the frame is not complete");
        }
        return complete;
    }

    private void checkKey() throws MpaException {
        int end = Math.min(buffer.position(), MpaFrame.KEY_BYTES);
        for (; checked < end; checked++) {
            byte found = buffer.get(checked);
            if (found != kind.keyByte(checked)) {
                boolean other = found == MpaFrame.Kind.REQUEST.keyByte(checked)
                        || found == MpaFrame.Kind.REPLY.keyByte(checked);
                throw new MpaException(other ? MpaViolation.OTHER_KIND : MpaViolation.NOT_MPA);
            }
        }
    }

    private int privateDataLength() throws MpaException {
        int revision = buffer.get(MpaFrame.REVISION);
        int length = Short.toUnsignedInt(buffer.getShort(MpaFrame.PRIVATE_DATA_LENGTH));
        if (revision < 1 || revision > MpaFrame.REVISION_ENHANCED) {
            throw new MpaException(MpaViolation.REVISION);
        }
        if (length > MpaFrame.MAX_PRIVATE_DATA) {
            throw new MpaException(MpaViolation.PRIVATE_DATA_TOO_LONG);
        }
        if (MpaFrame.isEnhanced(revision, buffer.get(MpaFrame.FLAGS)) && length < EnhancedSetup.BYTES) {
            throw new MpaException(MpaViolation.NO_ENHANCED_BLOCK);
        }
        return length;
    }
}
