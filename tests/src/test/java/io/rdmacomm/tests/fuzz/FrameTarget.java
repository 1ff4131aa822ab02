package io.rdmacomm.tests.fuzz;

import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.AtomicRequest;
import io.rdmacomm.soft.iwarp.AtomicResponse;
import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.ImmediateData;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.ReceiveSequence;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.tcp.FrameInput;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Frames of MPA, DDP and RDMAP, through the reader of a link and all decoders. The first byte says whether there are
/// checksums, which are made right then, and whether some payload is unwanted; the second one how much comes at a
/// time.
public final class FrameTarget {
    private static final int CHECKED = 1;
    private static final int RIGHT = 2;
    private static final int DISCARDING = 4;
    private static final int MOST_AT_A_TIME = 256;

    private FrameTarget() {}

    /// One stream, to its end.
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length < 2) {
            return;
        }
        boolean checked = (input[0] & CHECKED) != 0;
        byte[] stream = new byte[input.length - 2];
        System.arraycopy(input, 2, stream, 0, stream.length);
        if (checked && (input[0] & RIGHT) != 0) {
            makeRight(stream);
        }
        int atATime = input[1] == 0 ? stream.length + 1 : Byte.toUnsignedInt(input[1]);
        Reader reader = new Reader((input[0] & DISCARDING) != 0);
        FrameInput frames = new FrameInput(checked, reader);
        ByteChunks line = new ByteChunks(stream, atATime);
        int turns = 2 * (stream.length / Math.min(atATime, MOST_AT_A_TIME) + 2);
        int result = FrameInput.PROGRESS;
        for (int i = 0; i < turns && (result == FrameInput.PROGRESS || result == FrameInput.IDLE); i++) {
            line.next();
            result = frames.read(line);
        }
        Checks.that(result == FrameInput.END || result == FrameInput.STOPPED, "the stream has no end");
        Checks.that(result != FrameInput.STOPPED || reader.stopped, "it stopped by itself");
        Checks.that(frames.bytes() <= stream.length, "more than was sent");
    }

    /// Gives each frame the checksum that belongs to it, or nothing would get past that.
    private static void makeRight(byte[] stream) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(stream.length).put(stream).clear();
        FpduChecksum checksum = new FpduChecksum();
        int at = 0;
        while (bytes.capacity() - at > 2) {
            int segment = Short.toUnsignedInt(bytes.getShort(at));
            int next = at + Fpdu.bytes(segment);
            if (next > bytes.capacity()) {
                break;
            }
            checksum.reset();
            checksum.update(bytes, at, 2 + segment);
            Fpdu.writeTrailer(bytes, at + 2 + segment, segment, checksum);
            at = next;
        }
        bytes.get(0, stream);
    }

    /// Decodes what a link decodes, and places payload into memory that is in two pieces.
    private static final class Reader implements FrameInput.Receiver {
        private static final int PIECE = 3000;

        private final boolean discarding;
        private final ByteBuffer memory = ByteBuffer.allocateDirect(PIECE);
        private final ReceiveSequence sequence = new ReceiveSequence();
        private final ReadRequest readRequest = new ReadRequest();
        private final AtomicRequest atomicRequest = new AtomicRequest();
        private final Acknowledgement acknowledgement = new Acknowledgement();
        private final TerminateMessage terminate = new TerminateMessage();
        private int frame;
        private int left;
        private boolean stopped;

        Reader(boolean discarding) {
            this.discarding = discarding;
        }

        @Override
        public int begin(SegmentHeader header, ByteBuffer from, int at) {
            Checks.that(header.payloadBytes >= 0, "negative payload");
            frame++;
            left = header.payloadBytes;
            if (discarding && frame % 2 == 0) {
                return FrameInput.DISCARD;
            }
            Violation violation = decode(header, from, at);
            if (violation == Violation.NONE && header.opcode != Opcode.TERMINATE) {
                violation = sequence.accept(header);
            }
            stopped = violation != Violation.NONE || header.opcode == Opcode.TERMINATE;
            return stopped ? FrameInput.STOP : FrameInput.PLACE;
        }

        private Violation decode(SegmentHeader header, ByteBuffer from, int at) {
            return switch (header.opcode) {
                case Opcode.READ_REQUEST -> readRequest.decode(from, at);
                case Opcode.ATOMIC_REQUEST -> atomicRequest.decode(from, at);
                case Opcode.ACKNOWLEDGE -> acknowledgement.decode(from, at);
                case Opcode.ATOMIC_RESPONSE -> {
                    var _ = Objects.hash(AtomicResponse.identifier(from, at), AtomicResponse.original(from, at));
                    yield Violation.NONE;
                }
                case Opcode.IMMEDIATE, Opcode.IMMEDIATE_SOLICITED -> {
                    var _ = Objects.hash(ImmediateData.decode(from, at));
                    yield Violation.NONE;
                }
                case Opcode.TERMINATE -> {
                    terminate.decode(from, at, header.payloadBytes);
                    Checks.that(!terminate.toString().isBlank(), "a reason without words");
                    yield Violation.NONE;
                }
                default -> Violation.NONE;
            };
        }

        @Override
        public boolean place(MemorySegment from, long offset, int bytes) {
            Checks.that(from.asSlice(offset, bytes).byteSize() == bytes, "outside of the buffer");
            take(bytes);
            return true;
        }

        @Override
        public @Nullable ByteBuffer target(int bytes) {
            Checks.that(bytes == left, "another length than what is left");
            return memory.clear().limit(Math.min(bytes, PIECE));
        }

        @Override
        public void placed(int bytes) {
            take(bytes);
        }

        private void take(int bytes) {
            Checks.that(bytes > 0 && bytes <= left, "more payload than was announced");
            left -= bytes;
        }

        @Override
        public boolean end(SegmentHeader header) {
            Checks.that(left == 0, "payload is missing");
            return true;
        }

        @Override
        public void violation(Violation violation) {
            Checks.that(violation != Violation.NONE, "no violation");
            stopped = true;
        }
    }
}
