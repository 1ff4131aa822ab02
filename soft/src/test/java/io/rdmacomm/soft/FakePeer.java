package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.soft.iwarp.Violation;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/// An iWARP device of another make that is nothing but a socket and a table of bytes. Behaves like Linux siw: what
/// it sends is what siw sends, and it checks what it gets as siw does.
final class FakePeer implements AutoCloseable {
    final Wire wire;
    /// Of the frame that was read last.
    final SegmentHeader header = new SegmentHeader();
    final ReadRequest readRequest = new ReadRequest();
    final TerminateMessage terminate = new TerminateMessage();

    private final FpduChecksum checksum = new FpduChecksum();
    private boolean checksums;

    FakePeer(Wire wire) {
        this.wire = wire;
    }

    /// Frames carry a checksum from now on.
    FakePeer withChecksums() {
        checksums = true;
        return this;
    }

    /// Sends any bytes.
    void send(String hex) throws IOException {
        wire.send(hex);
    }

    void sendFrame(SegmentHeader segment, byte[] payload) throws IOException {
        wire.send(frame(segment, payload));
    }

    void sendMessage(int number, byte[] payload) throws IOException {
        wire.send(message(number, payload));
    }

    /// Sends a segment of a Send that has several.
    void sendPart(int number, int offset, boolean last, byte[] payload) throws IOException {
        SegmentHeader part = new SegmentHeader();
        part.setUntagged(Opcode.SEND, number);
        part.messageOffset = offset;
        part.last = last;
        part.payloadBytes = payload.length;
        sendFrame(part, payload);
    }

    /// Answers the Read Request that was read last, in this many segments.
    void answerRead(byte[] data, int segments) throws IOException {
        int key = readRequest.sinkKey;
        long address = readRequest.sinkAddress;
        int each = data.length / segments;
        for (int i = 0; i < segments; i++) {
            boolean last = i == segments - 1;
            int from = i * each;
            int to = last ? data.length : from + each;
            SegmentHeader response = new SegmentHeader();
            response.setTagged(Opcode.READ_RESPONSE, last, key, address + from, to - from);
            sendFrame(response, Arrays.copyOfRange(data, from, to));
        }
    }

    /// A Send of one segment.
    String message(int number, byte[] payload) {
        SegmentHeader segment = new SegmentHeader();
        segment.setUntagged(Opcode.SEND, number);
        segment.payloadBytes = payload.length;
        return frame(segment, payload);
    }

    /// A frame as hexadecimal digits.
    String frame(SegmentHeader segment, byte[] payload) {
        ByteBuffer out = ByteBuffer.allocateDirect(Fpdu.bytes(segment.segmentBytes()));
        segment.encode(out, 0);
        out.put(segment.headerBytes(), payload);
        return finish(out, segment);
    }

    /// A Read Request as siw sends it.
    String readRequest(int number, ReadRequest request) {
        SegmentHeader segment = new SegmentHeader();
        segment.setUntagged(Opcode.READ_REQUEST, number);
        ByteBuffer out = ByteBuffer.allocateDirect(Fpdu.bytes(segment.segmentBytes()));
        segment.encode(out, 0);
        request.encode(out, 0);
        return finish(out, segment);
    }

    private String finish(ByteBuffer out, SegmentHeader segment) {
        int end = 2 + segment.segmentBytes();
        if (checksums) {
            checksum.reset();
            checksum.update(out, 0, end);
            Fpdu.writeTrailer(out, end, segment.segmentBytes(), checksum);
        } else {
            Fpdu.writeTrailer(out, end, segment.segmentBytes());
        }
        byte[] bytes = new byte[out.capacity()];
        out.get(0, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /// Reads the next frame other than a reminder, and checks it.
    ///
    /// @return its payload
    byte[] readFrame() throws IOException {
        byte[] payload = readAnyFrame();
        while (isReminder()) {
            payload = readAnyFrame();
        }
        return payload;
    }

    private boolean isReminder() {
        return header.opcode == Opcode.WRITE && header.payloadBytes == 0;
    }

    /// Waits for the end of the connection, in whatever way it ends. Reminders come when their time is, so whole
    /// ones may come before it, and nothing else.
    boolean isEnded() throws IOException {
        do {
            String first;
            try {
                first = wire.readHex(1);
            } catch (EOFException | SocketException e) {
                return true;
            }
            readFrameOf(first + wire.readHex(1));
        } while (isReminder());
        return false;
    }

    /// Reads the next frame and checks it.
    ///
    /// @return its payload
    byte[] readAnyFrame() throws IOException {
        return readFrameOf(wire.readHex(2));
    }

    private byte[] readFrameOf(String length) throws IOException {
        int segment = Integer.parseInt(length, 16);
        byte[] bytes = Wire.bytes(length + wire.readHex(Fpdu.bytes(segment) - 2));
        ByteBuffer frame = ByteBuffer.allocateDirect(bytes.length).put(bytes).clear();
        assertThat(header.decode(frame, 0)).isEqualTo(Violation.NONE);
        if (checksums) {
            checksum.reset();
            checksum.update(frame, 0, 2 + segment);
            assertThat(Fpdu.checkTrailer(frame, 2 + segment, segment, checksum)).isEqualTo(Violation.NONE);
        } else {
            assertThat(frame.getInt(bytes.length - 4)).isZero();
        }
        if (header.opcode == Opcode.READ_REQUEST) {
            assertThat(readRequest.decode(frame, 0)).isEqualTo(Violation.NONE);
        } else if (header.opcode == Opcode.TERMINATE) {
            terminate.decode(frame, 0, header.payloadBytes);
        }
        byte[] payload = new byte[header.payloadBytes];
        frame.get(header.headerBytes(), payload);
        return payload;
    }

    @Override
    public void close() throws IOException {
        wire.close();
    }
}
