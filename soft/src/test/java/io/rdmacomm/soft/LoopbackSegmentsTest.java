package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.tcp.FrameInput;
import io.rdmacomm.soft.tcp.LinkTerms;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How frames for our own peers fit into the TCP segments of the loopback interface.
class LoopbackSegmentsTest {
    private static final int SEGMENT_BYTES = 65_483;
    private static final int MESSAGE_BYTES = 1 << 20;
    private static final int HEADER_ROOM = 64;

    /// A receiver that is faster than the sender finds one segment at a time.
    @ParameterizedTest
    @ValueSource(ints = {Opcode.WRITE, Opcode.SEND})
    void eachSegmentTakesTwoReads(int opcode) throws IOException {
        byte[] content = new byte[MESSAGE_BYTES];
        RandomGenerator.getDefault().nextBytes(content);
        ByteBuffer stream = stream(opcode, content);
        int segments = (stream.remaining() + SEGMENT_BYTES - 1) / SEGMENT_BYTES;
        Segments line = new Segments(stream);
        try (Arena arena = Arena.ofConfined()) {
            Target target = new Target(arena.allocate(MESSAGE_BYTES));
            FrameInput input = new FrameInput(false, target);
            while (line.next()) {
                assertThat(input.read(line)).isEqualTo(FrameInput.PROGRESS);
            }
            assertThat(input.isBetweenFrames()).isTrue();
            assertThat(target.memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
        }
        // Its payload, and what lies between that and the next; all of the first but a little is payload.
        assertThat(line.reads).isEqualTo(2 * segments + 1);
    }

    private static ByteBuffer stream(int opcode, byte[] content) {
        int most = LinkTerms.mostPayload(LinkTerms.LONGEST_SEGMENT);
        int frames = (content.length + most - 1) / most;
        ByteBuffer stream = ByteBuffer.allocate(content.length + (frames * HEADER_ROOM));
        SegmentHeader header = new SegmentHeader();
        int at = 0;
        for (int offset = 0; offset < content.length; offset += most) {
            int payload = Math.min(most, content.length - offset);
            boolean last = offset + payload == content.length;
            if (Opcode.isTagged(opcode)) {
                header.setTagged(opcode, last, 1, offset, payload);
            } else {
                header.setUntagged(opcode, 1);
                header.last = last;
                header.messageOffset = offset;
                header.payloadBytes = payload;
            }
            header.encode(stream, at);
            stream.put(at + header.headerBytes(), content, offset, payload);
            int trailer = at + header.headerBytes() + payload;
            at = trailer + Fpdu.writeTrailer(stream, trailer, header.segmentBytes());
        }
        return stream.limit(at);
    }

    /// Where everything goes to one piece of memory, in order.
    private static final class Target implements FrameInput.Receiver {
        private final MemorySegment memory;
        private final ByteBuffer bytes;

        Target(MemorySegment memory) {
            this.memory = memory;
            this.bytes = memory.asByteBuffer();
        }

        @Override
        public int begin(SegmentHeader header, ByteBuffer from, int at) {
            return FrameInput.PLACE;
        }

        @Override
        public boolean place(MemorySegment from, long offset, int count) {
            MemorySegment.copy(from, offset, memory, bytes.position(), count);
            placed(count);
            return true;
        }

        @Override
        public ByteBuffer target(int count) {
            return bytes.duplicate().limit(bytes.position() + count);
        }

        @Override
        public void placed(int count) {
            bytes.position(bytes.position() + count);
        }

        @Override
        public boolean end(SegmentHeader header) {
            return true;
        }

        @Override
        public void violation(Violation violation) {
            throw new AssertionError(violation.toString());
        }
    }

    /// A socket that has received one TCP segment at a time.
    private static final class Segments implements ReadableByteChannel {
        private final ByteBuffer stream;
        private final int end;
        private int reads;

        Segments(ByteBuffer stream) {
            this.stream = stream;
            this.end = stream.limit();
            stream.limit(0);
        }

        /// One more has come; false if there are no more.
        boolean next() {
            assertThat(stream.hasRemaining()).isFalse();
            if (stream.position() == end) {
                return false;
            }
            stream.limit(Math.min(end, stream.position() + SEGMENT_BYTES));
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            int count = Math.min(target.remaining(), stream.remaining());
            target.put(target.position(), stream, stream.position(), count);
            target.position(target.position() + count);
            stream.position(stream.position() + count);
            reads += count > 0 ? 1 : 0;
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
