package io.rdmacomm.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The loops that the tests measure. They allocate nothing.
final class PerftestWork {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final PerftestPair pair;
    private final PerftestSettings settings;
    private final int count;

    PerftestWork(PerftestPair pair, PerftestSettings settings) {
        this.pair = pair;
        this.settings = settings;
        this.count = settings.iterations();
    }

    /// Works as the client.
    PerftestFigures initiate() {
        return switch (settings.program()) {
            case IB_SEND_LAT -> exchangeMessages(true);
            case IB_WRITE_LAT -> exchangeWrites(false);
            case IB_READ_LAT, IB_ATOMIC_LAT -> oneByOne();
            case IB_SEND_BW, IB_WRITE_BW, IB_READ_BW, IB_ATOMIC_BW -> manyAtOnce();
        };
    }

    /// Works as the server of a two-sided test.
    PerftestFigures answer() {
        return switch (settings.program()) {
            case IB_SEND_LAT -> exchangeMessages(false);
            case IB_WRITE_LAT -> exchangeWrites(true);
            case IB_SEND_BW -> receive();
            case IB_READ_LAT, IB_ATOMIC_LAT, IB_WRITE_BW, IB_READ_BW, IB_ATOMIC_BW ->
                throw new IllegalStateException(settings.program() + " has no work for a server");
        };
    }

    private PerftestFigures exchangeMessages(boolean begins) {
        long[] begun = new long[count];
        int ahead = begins ? 1 : 0;
        for (int i = 0; i < count; i++) {
            while (pair.received() + ahead <= i || !pair.canPost()) {
                pair.poll();
            }
            pair.postReceives();
            begun[i] = System.nanoTime();
            pair.post();
        }
        awaitAll(count);
        return latency(begun);
    }

    /// The last byte of each WRITE counts up, modulo 256.
    private PerftestFigures exchangeWrites(boolean begins) {
        long last = settings.bytes() - 1L;
        MemorySegment source = pair.outgoing();
        long[] begun = new long[count];
        int behind = begins ? 0 : 1;
        for (int i = 0; i < count; i++) {
            awaitWrite(last, i + behind);
            while (!pair.canPost()) {
                pair.poll();
            }
            source.set(ValueLayout.JAVA_BYTE, last, (byte) (i + 1));
            begun[i] = System.nanoTime();
            pair.post();
        }
        awaitWrite(last, count);
        awaitAll(0);
        return latency(begun);
    }

    private void awaitWrite(long last, int value) {
        MemorySegment target = pair.incoming();
        while ((byte) BYTE.getAcquire(target, last) != (byte) value) {
            pair.poll();
        }
    }

    private PerftestFigures oneByOne() {
        long[] begun = new long[count];
        for (int i = 0; i < count; i++) {
            begun[i] = System.nanoTime();
            pair.post();
            while (pair.completed() <= i) {
                pair.poll();
            }
        }
        return latency(begun);
    }

    private PerftestFigures manyAtOnce() {
        long[] begun = new long[count];
        long[] ended = new long[count];
        int started = 0;
        int done = 0;
        while (done < count) {
            while (started < count && pair.canPost()) {
                begun[started++] = System.nanoTime();
                pair.post();
            }
            pair.poll();
            long now = System.nanoTime();
            while (done < pair.completed()) {
                ended[done++] = now;
            }
        }
        return BandwidthFigures.of(settings.bytes(), begun, ended);
    }

    private PerftestFigures receive() {
        while (pair.received() == 0) {
            pair.poll();
        }
        long begin = System.nanoTime();
        while (pair.received() < count) {
            pair.postReceives();
            pair.poll();
        }
        return BandwidthFigures.of(settings.bytes(), count, System.nanoTime() - begin);
    }

    private void awaitAll(int messages) {
        while (pair.completed() < count || pair.received() < messages) {
            pair.poll();
        }
    }

    private LatencyFigures latency(long[] begun) {
        return LatencyFigures.of(settings.bytes(), begun, settings.program().hops());
    }
}
