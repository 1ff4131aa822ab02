package io.rdmacomm.comm.data;

import jdk.jfr.FlightRecorder;

/// Times operations for [SlowOperationEvent], but only while it is recorded: reading the clock costs as much as a
/// small WRITE.
public final class SlowOperations {
    private static boolean recording;

    private SlowOperations() {}

    /// Checks whether the event is being recorded. Called periodically, off the data path.
    public static void refresh() {
        recording = FlightRecorder.isInitialized() && new SlowOperationEvent().isEnabled();
    }

    /// The time at which an operation starts; 0 if the event is not recorded.
    static long now() {
        return recording ? System.nanoTime() | 1 : 0;
    }

    static void report(long start, String channel, int kind, long bytes) {
        long nanos = System.nanoTime() - start;
        if (nanos >= SlowOperationEvent.THRESHOLD_NANOS) {
            SlowOperationEvent event = new SlowOperationEvent();
            event.channel = channel;
            event.operation = Operation.name(kind);
            event.bytes = bytes;
            event.nanos = nanos;
            event.commit();
        }
    }
}
