package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// WRITE there and back: each side watches the last byte of its own memory, which counts from 1 to 128.
final class WriteLatency implements Shape {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    /// Completions are collected once in so many operations, less one: they are nobody's hurry.
    private static final int COLLECT_MASK = 15;

    private final TestBed bed;
    private final RdmaChannel channel;
    private final BufferSlice source;
    private final MemorySegment sourceMemory;
    private final MemorySegment targetMemory;
    private final RemoteBuffer remote;
    private final Tally tally;
    private final long last;

    WriteLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.source = bed.sourceSlice(0);
        this.sourceMemory = bed.source().segment();
        this.targetMemory = bed.target().segment();
        this.remote = bed.remoteTarget();
        this.tally = bed.tally();
        this.last = bed.plan().bytes() - 1;
    }

    @Override
    public void prepare() {
        targetMemory.set(ValueLayout.JAVA_BYTE, last, (byte) 0);
    }

    @Override
    public void initiate(int count, long[] readings) {
        long end = tally.done() + channel.inFlight() + count;
        readings[0] = System.nanoTime();
        for (int i = 0; i < count; i++) {
            byte value = (byte) ((i & 127) + 1);
            write(value, i);
            await(value);
            readings[i + 1] = System.nanoTime();
        }
        collect(end);
    }

    @Override
    public void answer(int count) {
        long end = tally.done() + channel.inFlight() + count;
        for (int i = 0; i < count; i++) {
            byte value = (byte) ((i & 127) + 1);
            await(value);
            write(value, i);
        }
        collect(end);
    }

    private void write(byte value, int index) {
        sourceMemory.set(ValueLayout.JAVA_BYTE, last, value);
        while (!channel.tryWrite(source, remote, 0, tally, 0)) {
            channel.poll();
        }
        if ((index & COLLECT_MASK) == COLLECT_MASK) {
            channel.poll();
        }
    }

    /// Without a pause between two looks, as perftest does it: half a pause would be in each time, and an emulated
    /// processor leaves the guest for it.
    private void await(byte value) {
        int spins = 0;
        while ((byte) BYTE.getAcquire(targetMemory, last) != value) {
            if ((++spins & LOOK_MASK) == 0) {
                channel.poll();
                bed.checkAlive();
            }
        }
    }

    private void collect(long end) {
        int spins = 0;
        while (tally.done() < end) {
            channel.poll();
            if ((++spins & LOOK_MASK) == 0) {
                bed.checkAlive();
            }
        }
    }

    @Override
    public String complaint(int count) {
        return TargetCheck.complaint(bed, 1, last);
    }
}
