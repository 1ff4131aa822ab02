package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Mutated frames, by the thousand: no exception, no look beyond what has come, and what is accepted is what was
/// sent. `-Drdma.fuzz.frames=1000000` runs longer, `-Drdma.fuzz.seed=N` runs the same again.
class FuzzTest {
    private static final long FRAMES = Long.getLong("rdma.fuzz.frames", 50_000);
    private static final long SEED = Long.getLong("rdma.fuzz.seed", System.nanoTime());
    /// Only what encoders leave zero and decoders ignore may differ after a round trip.
    private static final int RESERVED_CONTROL = 0x3c30;

    private final Random random = new Random(SEED);
    private final SegmentHeader header = new SegmentHeader();
    private final ReadRequest readRequest = new ReadRequest();
    private final AtomicRequest atomicRequest = new AtomicRequest();
    private final Acknowledgement acknowledgement = new Acknowledgement();
    private final TerminateMessage terminate = new TerminateMessage();
    private final ByteBuffer again = ByteBuffer.allocateDirect(FpduLayout.MAX_HEADER_BYTES);

    @Test
    void framesOfHostilePeers() {
        ReceiveSequence sequence = new ReceiveSequence();
        long accepted = 0;
        for (long i = 0; i < FRAMES; i++) {
            ByteBuffer frame = mutated(seedFrame());
            try {
                if (decode(frame)) {
                    accepted++;
                    sequence.accept(header);
                }
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "seed " + SEED + ", frame " + i + ": " + Frames.hex(frame, 0, frame.capacity()), e);
            }
            if (i % 1000 == 0) {
                sequence = new ReceiveSequence();
            }
        }
        assertThat(accepted)
                .as("accepted of %d frames with seed %d", FRAMES, SEED)
                .isBetween(1L, FRAMES - 1);
    }

    /// Decodes like the engine: only when enough has come, with a limit behind what has come.
    private boolean decode(ByteBuffer frame) {
        int come = 0;
        int missing = SegmentHeader.missing(frame.limit(0), 0, 0);
        while (missing > 0) {
            come += missing;
            if (come > frame.capacity()) {
                return false;
            }
            missing = SegmentHeader.missing(frame.limit(come), 0, come);
        }
        assertThat(come).isLessThanOrEqualTo(FpduLayout.MAX_HEADER_BYTES);
        if (header.decode(frame, 0) != Violation.NONE) {
            return false;
        }
        int length = Short.toUnsignedInt(frame.getShort(0));
        assertThat(header.payloadBytes).isNotNegative();
        assertThat(header.segmentBytes()).isEqualTo(length);
        Violation violation = decodeMessage(frame);
        return violation == Violation.NONE && comesBack(frame);
    }

    private Violation decodeMessage(ByteBuffer frame) {
        return switch (header.opcode) {
            case Opcode.READ_REQUEST -> readRequest.decode(frame, 0);
            case Opcode.ATOMIC_REQUEST -> atomicRequest.decode(frame, 0);
            case Opcode.ACKNOWLEDGE -> acknowledgement.decode(frame, 0);
            case Opcode.TERMINATE -> {
                terminate.decode(frame, 0, Math.min(header.payloadBytes, frame.limit() - FpduLayout.TERMINATE_BYTES));
                assertThat(terminate.toString()).isNotBlank();
                yield Violation.NONE;
            }
            default -> Violation.NONE;
        };
    }

    private boolean comesBack(ByteBuffer frame) {
        header.encode(again, 0);
        int bytes = Opcode.isTagged(header.opcode) ? FpduLayout.TAGGED_BYTES : FpduLayout.UNTAGGED_BYTES;
        assertThat(again.getShort(0)).isEqualTo(frame.getShort(0));
        assertThat((int) again.getShort(2)).isEqualTo((short) (frame.getShort(2) & ~RESERVED_CONTROL));
        assertThat(Frames.hex(again, 4, bytes - 4)).isEqualTo(Frames.hex(frame, 4, bytes - 4));
        return true;
    }

    private ByteBuffer seedFrame() {
        int opcode = random.nextInt(16);
        if (opcode == 15) {
            Frames.Golden golden = Frames.ALL.get(random.nextInt(Frames.ALL.size()));
            return golden.at(0);
        }
        ByteBuffer frame = ByteBuffer.allocateDirect(Opcode.headerBytes(opcode) + random.nextInt(80));
        while (frame.hasRemaining()) {
            frame.put((byte) random.nextInt(256));
        }
        frame.clear();
        header.setUntagged(opcode, random.nextInt(3));
        header.key = random.nextInt();
        header.address = random.nextLong();
        header.messageOffset = random.nextInt(3) == 0 ? random.nextInt() : 0;
        header.payloadBytes = random.nextInt(4) == 0 ? random.nextInt(200) : 0;
        header.encode(frame, 0);
        return frame;
    }

    private ByteBuffer mutated(ByteBuffer frame) {
        int mutations = random.nextInt(4);
        for (int i = 0; i < mutations; i++) {
            int at = random.nextInt(random.nextBoolean() ? Math.min(8, frame.capacity()) : frame.capacity());
            byte value = switch (random.nextInt(4)) {
                case 0 -> (byte) random.nextInt(256);
                case 1 -> (byte) 0xff;
                case 2 -> (byte) 0;
                default -> (byte) (frame.get(at) ^ (1 << random.nextInt(8)));
            };
            frame.put(at, value);
        }
        return random.nextInt(8) == 0 ? frame.slice(0, random.nextInt(frame.capacity())) : frame;
    }

    @Test
    void setUpOfHostilePeers() {
        byte[] good =
                new MpaNegotiation(true, 8, 8).request(new byte[40]).encode().array();
        long complete = 0;
        for (long i = 0; i < FRAMES; i++) {
            byte[] bytes = good.clone();
            int mutations = random.nextInt(4);
            for (int m = 0; m < mutations; m++) {
                bytes[random.nextInt(random.nextBoolean() ? 20 : bytes.length)] = (byte) random.nextInt(256);
            }
            complete += readSetUp(bytes) ? 1 : 0;
        }
        assertThat(complete)
                .as("complete of %d requests with seed %d", FRAMES, SEED)
                .isBetween(1L, FRAMES - 1);
    }

    private boolean readSetUp(byte[] bytes) {
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REQUEST);
        int at = 0;
        try {
            while (!reader.advance()) {
                ByteBuffer into = reader.buffer();
                int length = Math.min(into.remaining(), Math.min(bytes.length - at, 1 + random.nextInt(30)));
                if (length == 0) {
                    return false;
                }
                into.put(bytes, at, length);
                at += length;
            }
        } catch (MpaException e) {
            return false;
        }
        MpaFrame frame = reader.frame();
        MpaNegotiation own = new MpaNegotiation(false, 8, 8);
        assertThat(own.responderTerms(frame, own.acceptance(frame, new byte[0])))
                .isNotNull();
        assertThat(PeerHandshake.find(frame.privateData())).isNull();
        return true;
    }

    @Test
    void handshakesOfHostilePeers() {
        byte[] block = new byte[2 * PeerHandshake.BYTES];
        for (long i = 0; i < FRAMES; i++) {
            random.nextBytes(block);
            byte[] magic = Frames.bytes("0001 0064 72646d61636f6d6d");
            System.arraycopy(magic, 0, block, block.length - magic.length, magic.length);
            block[block.length - 50] = (byte) random.nextInt(4);
            block[block.length - 9] = (byte) random.nextInt(256);
            PeerHandshake found = PeerHandshake.find(block);
            byte[] rest = PeerHandshake.withoutBlock(block);
            assertThat(rest.length).as("seed %d", SEED).isLessThanOrEqualTo(block.length);
            if (found != null && rest.length == PeerHandshake.BYTES) {
                assertThat(PeerHandshake.find(found.appendTo(rest)))
                        .as("seed %d", SEED)
                        .isEqualTo(found);
            }
        }
    }
}
