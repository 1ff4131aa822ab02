package io.rdmacomm.cli.bench.trial;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Stores back and forth through direct views. Each side spins on the last byte of its own memory, which counts from 1
/// to 128.
final class ViewLatency implements Workload {
    private static final ValueLayout.OfLong LITTLE = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = LITTLE.varHandle();
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final TestBed bed;
    private final MemorySegment source;
    private final MemorySegment target;
    private final MemorySegment view;
    private final long last;
    /// The bytes before the last one, if that is the eighth.
    private final long first;

    ViewLatency(TestBed bed) {
        this.bed = bed;
        this.source = bed.source().segment();
        this.target = bed.target().segment();
        this.view = bed.viewOfTarget();
        this.last = bed.plan().bytes() - 1;
        this.first = last == Long.BYTES - 1 ? source.get(LITTLE, 0) & (-1L >>> Byte.SIZE) : 0;
    }

    @Override
    public void prepare() {
        target.set(ValueLayout.JAVA_BYTE, last, (byte) 0);
    }

    @Override
    public void initiate(int count, Readings readings) {
        readings.begin();
        for (int i = 0; i < count; i++) {
            byte value = (byte) ((i & 127) + 1);
            store(value);
            await(value);
            readings.lap();
        }
        readings.end();
    }

    @Override
    public void answer(int count) {
        for (int i = 0; i < count; i++) {
            byte value = (byte) ((i & 127) + 1);
            await(value);
            store(value);
        }
    }

    /// The last byte publishes the others. 8 bytes are one store.
    private void store(byte value) {
        if (last == Long.BYTES - 1) {
            LONG.setRelease(view, 0L, first | ((long) value << (Long.SIZE - Byte.SIZE)));
        } else {
            MemorySegment.copy(source, 0, view, 0, last);
            BYTE.setRelease(view, last, value);
        }
    }

    /// Spins without a pause instruction, as [WriteLatency] does.
    private void await(byte value) {
        int spins = 0;
        while ((byte) BYTE.getAcquire(target, last) != value) {
            if ((++spins & ClockCost.CHECK_MASK) == 0) {
                bed.channel(0).poll();
                bed.checkAlive();
            }
        }
    }

    /// The last byte holds the count, not the pattern.
    @Override
    public String findCorruption(int count) {
        return bed.findCorruption(1, last);
    }
}
