package io.rdmacomm.tests.bench;

import io.rdmacomm.soft.iwarp.FpduChecksum;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.Violation;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// What every frame over TCP costs besides its bytes: the header at both ends, and the checksum.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
public class FrameBenchmark {
    private static final int HEADER_ROOM = 64;
    private static final int SMALL = 64;
    private static final int LARGE = 32 << 10;

    private final SegmentHeader sent = new SegmentHeader();
    private final SegmentHeader received = new SegmentHeader();
    private final FpduChecksum checksum = new FpduChecksum();
    private final ByteBuffer header = ByteBuffer.allocateDirect(HEADER_ROOM);
    private final ByteBuffer payload = ByteBuffer.allocateDirect(LARGE);
    private int number;

    @Setup
    public void encode() {
        sent.setTagged(Opcode.WRITE, true, 0x1234, 4096, SMALL);
        sent.encode(header, 0);
        if (received.decode(header, 0) != Violation.NONE || received.key != 0x1234) {
            throw new IllegalStateException("the header does not come back");
        }
    }

    @Benchmark
    public ByteBuffer encodeHeader() {
        sent.setTagged(Opcode.WRITE, true, number++, 4096, SMALL);
        sent.encode(header, 0);
        return header;
    }

    @Benchmark
    public Violation decodeHeader() {
        return received.decode(header, 0);
    }

    @Benchmark
    public int checksumOf64Bytes() {
        return checksumOf(SMALL);
    }

    @Benchmark
    public int checksumOf32KiB() {
        return checksumOf(LARGE);
    }

    private int checksumOf(int bytes) {
        checksum.reset();
        checksum.update(payload, 0, bytes);
        return checksum.value();
    }
}
