package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.verbs.RdmaException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// The events that the listener of a reconnecting client is told.
final class ReconnectingClient implements SessionListener {
    /// Pauses of 5 to 50 ms, always the same.
    static final Reconnect QUICKLY = Reconnect.defaults()
            .withPauses(Duration.ofMillis(5), Duration.ofMillis(50))
            .withJitter(0);

    /// A new endpoint, or one that has ended.
    record Event(boolean isNew, EndPoint endPoint, @Nullable RdmaException failure) {}

    final List<Event> events = new CopyOnWriteArrayList<>();
    final List<RdmaException> refusals = new CopyOnWriteArrayList<>();
    final List<RdmaException> givenUp = new CopyOnWriteArrayList<>();

    @Override
    public void onEndPoint(EndPoint endPoint) {
        events.add(new Event(true, endPoint, null));
    }

    @Override
    public void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
        events.add(new Event(false, endPoint, failure));
    }

    @Override
    public void onRefused(String peer, RdmaException failure) {
        refusals.add(failure);
    }

    @Override
    public void onGiveUp(RdmaException failure) {
        givenUp.add(failure);
    }

    List<EndPoint> newEndPoints() {
        return events.stream().filter(Event::isNew).map(Event::endPoint).toList();
    }
}
