package io.rdmacomm.tests.comm;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/// The times that a virtual thread has blocked its carrier, as the flight recorder sees them.
final class PinnedCarriers implements AutoCloseable {
    private static final String EVENT = "jdk.VirtualThreadPinned";

    private final RecordingStream stream = new RecordingStream();
    private final List<RecordedEvent> events = new CopyOnWriteArrayList<>();

    /// Begins to look for those that take longer than `bound`.
    PinnedCarriers(Duration bound) {
        stream.setReuse(false);
        stream.enable(EVENT).withThreshold(bound).withStackTrace();
        stream.onEvent(EVENT, events::add);
        stream.startAsync();
    }

    /// Those since the beginning. Ends the recording.
    List<RecordedEvent> stop() {
        stream.stop();
        return events;
    }

    @Override
    public void close() {
        stream.close();
    }
}
