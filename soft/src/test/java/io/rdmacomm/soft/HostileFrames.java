package io.rdmacomm.soft;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.AtomicRequest;
import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.Frames;
import io.rdmacomm.soft.iwarp.ImmediateData;
import io.rdmacomm.soft.iwarp.MessageNumbers;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.verbs.MemoryRegion;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// The frames of one connection: those of a peer that keeps the rules, some of which are then mutated: bits and
/// bytes, lengths, cuts, and pieces of one frame behind those of another.
final class HostileFrames {
    private static final int SCRATCH = 2048;
    private static final int LONGEST_SEND = 200;
    private static final int RARELY = 64;

    private final Random random;
    private final MemoryRegion target;
    private final boolean checked;
    private final int features;
    private final int rate;
    private final MessageNumbers numbers = new MessageNumbers();
    private final SegmentHeader header = new SegmentHeader();
    private final FpduChecksum checksum = new FpduChecksum();
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH);
    private byte[] before = new byte[0];

    /// @param target what may be written to and read from
    /// @param checked whether frames have a checksum
    /// @param features of [io.rdmacomm.soft.iwarp.PeerHandshake]
    /// @param rate of so many frames, one is mutated on the average
    HostileFrames(Random random, MemoryRegion target, boolean checked, int features, int rate) {
        this.random = random;
        this.target = target;
        this.checked = checked;
        this.features = features;
        this.rate = rate;
    }

    /// So many frames, one behind the other.
    byte[] take(int count) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            byte[] frame = frame();
            byte[] sent = random.nextInt(rate) == 0 ? mutated(frame) : finished(frame);
            all.writeBytes(sent);
            before = frame;
        }
        return all.toByteArray();
    }

    // ---- Frames as they should be, without their trailers ----

    private byte[] frame() {
        if (random.nextInt(RARELY) == 0) {
            return rare();
        }
        boolean atomics = (features & 2) != 0;
        boolean immediates = (features & 1) != 0;
        return switch (random.nextInt(8)) {
            case 0, 1 -> write(random.nextInt(4) == 0 ? 0 : random.nextInt(1000));
            case 2 -> send(Opcode.SEND);
            case 3 -> send(immediates ? Opcode.SEND_IMMEDIATE : Opcode.SEND_SOLICITED);
            case 4 -> read();
            case 5 -> atomics ? atomic() : read();
            case 6 -> immediates ? immediate() : write(8);
            default -> (features & 4) != 0 ? acknowledgement() : write(16);
        };
    }

    /// Frames that end the connection, or are out of place.
    private byte[] rare() {
        List<Frames.Golden> golden = Frames.ALL;
        return switch (random.nextInt(5)) {
            case 0 -> send(Opcode.SEND_INVALIDATE);
            case 1 -> untagged(Opcode.TERMINATE, 4);
            case 2 -> untagged(Opcode.ATOMIC_RESPONSE, 0);
            case 3 -> tagged(Opcode.READ_RESPONSE, true, random.nextInt(40));
            default -> {
                byte[] frame =
                        Wire.bytes(golden.get(random.nextInt(golden.size())).hex());
                yield Arrays.copyOf(frame, 2 + (frame[1] & 0xff));
            }
        };
    }

    private byte[] write(int bytes) {
        return tagged(Opcode.WRITE, random.nextInt(8) != 0, bytes);
    }

    private byte[] tagged(int opcode, boolean last, int bytes) {
        long room = target.length() - bytes;
        header.setTagged(opcode, last, target.remoteKey(), target.address() + random.nextLong(room + 1), bytes);
        return encoded();
    }

    private byte[] send(int opcode) {
        header.setUntagged(opcode, numbers.take(opcode));
        header.payloadBytes = random.nextInt(LONGEST_SEND);
        header.key = opcode == Opcode.SEND || opcode == Opcode.SEND_SOLICITED ? 0 : random.nextInt();
        return encoded();
    }

    private byte[] untagged(int opcode, int payload) {
        header.setUntagged(opcode, numbers.take(opcode));
        header.payloadBytes = payload;
        return encoded();
    }

    private byte[] read() {
        ReadRequest request = new ReadRequest();
        request.sinkKey = random.nextInt();
        request.sinkAddress = random.nextInt();
        request.bytes = random.nextInt(2000);
        request.sourceKey = target.remoteKey();
        request.sourceAddress = target.address() + random.nextLong(target.length() - request.bytes);
        header.setUntagged(Opcode.READ_REQUEST, numbers.take(Opcode.READ_REQUEST));
        request.encode(scratch, 0);
        return encoded();
    }

    private byte[] atomic() {
        AtomicRequest request = new AtomicRequest();
        request.operation = random.nextBoolean() ? AtomicRequest.FETCH_ADD : AtomicRequest.COMPARE_SWAP;
        request.identifier = random.nextInt();
        request.key = target.remoteKey();
        request.address = target.address() + 8 * random.nextLong(target.length() / 8);
        request.value = random.nextLong();
        header.setUntagged(Opcode.ATOMIC_REQUEST, numbers.take(Opcode.ATOMIC_REQUEST));
        request.encode(scratch, 0);
        return encoded();
    }

    private byte[] immediate() {
        header.setUntagged(Opcode.IMMEDIATE, numbers.take(Opcode.IMMEDIATE));
        ImmediateData.encode(scratch, 0, random.nextInt());
        return encoded();
    }

    private byte[] acknowledgement() {
        Acknowledgement acknowledgement = new Acknowledgement();
        header.setUntagged(Opcode.ACKNOWLEDGE, numbers.take(Opcode.ACKNOWLEDGE));
        acknowledgement.encode(scratch, 0);
        return encoded();
    }

    private byte[] encoded() {
        header.encode(scratch, 0);
        int at = header.headerBytes();
        byte[] payload = new byte[header.payloadBytes];
        random.nextBytes(payload);
        scratch.put(at, payload);
        byte[] frame = new byte[at + payload.length];
        scratch.get(0, frame);
        return frame;
    }

    // ---- What becomes of them ----

    /// With its trailer.
    private byte[] finished(byte[] frame) {
        scratch.put(0, frame);
        int segment = frame.length - 2;
        int end = frame.length;
        if (checked) {
            checksum.reset();
            checksum.update(scratch, 0, end);
            end += Fpdu.writeTrailer(scratch, end, segment, checksum);
        } else {
            end += Fpdu.writeTrailer(scratch, end, segment);
        }
        byte[] all = new byte[end];
        scratch.get(0, all);
        return all;
    }

    /// Some with a checksum that is right for what is wrong.
    private byte[] mutated(byte[] frame) {
        if (random.nextBoolean()) {
            byte[] wrong = frame.clone();
            for (int i = random.nextInt(3); i >= 0; i--) {
                scribble(wrong);
            }
            return finished(wrong);
        }
        byte[] whole = finished(frame);
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(whole, random.nextInt(whole.length));
            case 1 -> spliced(whole);
            case 2 -> {
                ByteBuffer.wrap(whole).putShort(0, (short) random.nextInt(1 << 16));
                yield whole;
            }
            default -> {
                scribble(whole);
                yield whole;
            }
        };
    }

    private void scribble(byte[] frame) {
        int at = random.nextInt(random.nextBoolean() ? Math.min(28, frame.length) : frame.length);
        frame[at] = switch (random.nextInt(4)) {
            case 0 -> (byte) random.nextInt(256);
            case 1 -> (byte) 0xff;
            case 2 -> 0;
            default -> (byte) (frame[at] ^ (1 << random.nextInt(8)));
        };
    }

    /// The beginning of this frame, or of a golden one, and the end of the frame before.
    private byte[] spliced(byte[] frame) {
        byte[] head = random.nextBoolean()
                ? frame
                : Wire.bytes(Frames.ALL.get(random.nextInt(Frames.ALL.size())).hex());
        int from = random.nextInt(head.length);
        int to = random.nextInt(before.length + 1);
        byte[] all = Arrays.copyOf(head, from + before.length - to);
        System.arraycopy(before, to, all, from, before.length - to);
        return all;
    }
}
