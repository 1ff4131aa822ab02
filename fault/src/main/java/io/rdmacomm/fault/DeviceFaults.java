package io.rdmacomm.fault;

import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.DriverEvent;
import io.rdmacomm.verbs.spi.PortValues;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/// Faults of the whole device: its link is down, or it has failed. Thread-safe.
final class DeviceFaults {
    private static final int PORT = 1;

    private final ConcurrentLinkedQueue<DriverEvent> events = new ConcurrentLinkedQueue<>();
    private volatile boolean linkDown;
    private volatile boolean failed;
    private boolean returns;
    private long upAt;

    /// Takes the link of port 1 down. Does nothing if it is down.
    synchronized void takeLinkDown(InjectedFault.LinkDown fault) {
        if (!linkDown) {
            returns = fault.nanos() != InjectedFault.LinkDown.FOR_EVER;
            upAt = System.nanoTime() + (returns ? fault.nanos() : 0);
            linkDown = true;
            events.add(new DriverEvent(AsyncEventType.PORT_ERROR, PORT));
        }
    }

    /// Whether the link is down. The first call after its time brings it up.
    boolean isLinkDown() {
        return linkDown && !comesBack();
    }

    private synchronized boolean comesBack() {
        if (linkDown && returns && System.nanoTime() - upAt >= 0) {
            linkDown = false;
            events.add(new DriverEvent(AsyncEventType.PORT_ACTIVE, PORT));
        }
        return !linkDown;
    }

    /// Marks the device as failed. Returns whether it had not failed before.
    synchronized boolean fail() {
        if (failed) {
            return false;
        }
        failed = true;
        events.add(new DriverEvent(AsyncEventType.DEVICE_FATAL, 0));
        return true;
    }

    /// Throws EIO if the device has failed.
    void checkAlive(String call) {
        if (failed) {
            throw new VerbException(call, Errno.EIO, "the device has failed, by a rule in its name; close it");
        }
    }

    /// Raises an event about an object.
    void raise(DriverEvent event) {
        events.add(event);
    }

    /// The next event of these faults; null if there is none.
    @Nullable
    DriverEvent nextEvent() {
        isLinkDown();
        return events.poll();
    }

    /// The attributes of a port, with the state that the faults leave it in.
    PortValues seen(int number, PortValues real) {
        if (number == PORT && isLinkDown()) {
            real.state = PortState.DOWN;
        }
        return real;
    }
}
