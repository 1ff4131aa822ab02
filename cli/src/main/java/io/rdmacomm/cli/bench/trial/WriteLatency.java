package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// WRITEs back and forth. Each side spins on the last byte of its own memory, which counts from 1 to 128.
final class WriteLatency implements Workload {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    /// Polls for completions once every 16 operations, because nothing waits for them.
    private static final int POLL_MASK = 15;

    private final TestBed bed;
    private final RdmaChannel channel;
    private final BufferSlice source;
    private final MemorySegment sourceMemory;
    private final MemorySegment targetMemory;
    private final RemoteBuffer remote;
    private final CompletionCounter completions;
    private final long last;

    WriteLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.source = bed.sourceSlice(0);
        this.sourceMemory = bed.source().segment();
        this.targetMemory = bed.target().segment();
        this.remote = bed.remoteTarget();
        this.completions = bed.completions();
        this.last = bed.plan().bytes() - 1;
    }

    @Override
    public void prepare() {
        targetMemory.set(ValueLayout.JAVA_BYTE, last, (byte) 0);
    }

    @Override
    public void initiate(int count, Readings readings) {
        long end = completions.count() + channel.inFlight() + count;
        readings.begin();
        for (int i = 0; i < count; i++) {
            byte value = (byte) ((i & 127) + 1);
            write(value, i);
            await(value);
            readings.lap();
        }
        readings.end();
        bed.await(end, 0);
    }

    @Override
    public void answer(int count) {
        long end = completions.count() + channel.inFlight() + count;
        for (int i = 0; i < count; i++) {
            byte value = (byte) ((i & 127) + 1);
            await(value);
            write(value, i);
        }
        bed.await(end, 0);
    }

    private void write(byte value, int index) {
        sourceMemory.set(ValueLayout.JAVA_BYTE, last, value);
        while (!channel.tryWrite(source, remote, 0, completions, 0).isAccepted()) {
            channel.checkOpen();
            channel.poll();
        }
        if ((index & POLL_MASK) == POLL_MASK) {
            channel.poll();
        }
    }

    /// Spins without a pause instruction, like perftest: half a pause on average would be part of every sample, and
    /// on an emulated processor the instruction leaves the guest.
    private void await(byte value) {
        int spins = 0;
        while ((byte) BYTE.getAcquire(targetMemory, last) != value) {
            if ((++spins & ClockCost.CHECK_MASK) == 0) {
                channel.poll();
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
