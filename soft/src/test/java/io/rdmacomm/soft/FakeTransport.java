package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.spi.SendRequest;
import java.util.ArrayList;
import java.util.List;

/// A transport that keeps requests and does what a test says. It fails when it is called while it is at work.
final class FakeTransport implements Transport {
    private final QueuePairResources queuePair;
    final List<String> calls = new ArrayList<>();
    Runnable onPost = () -> {};
    boolean drained = true;
    private boolean atWork;

    FakeTransport(QueuePairResources queuePair) {
        this.queuePair = queuePair;
    }

    @Override
    public boolean isIdle() {
        return true;
    }

    @Override
    public boolean isAgreed() {
        return true;
    }

    /// Tells the queue pair that the oldest request has failed.
    void fail(int status, int vendorError) {
        queuePair.events().failed(status, vendorError, AsyncEventType.UNKNOWN);
    }

    /// Tells the queue pair that the peer has ended in an orderly way.
    void peerGone() {
        queuePair.events().peerGone();
    }

    /// Completes the oldest request.
    void succeed() {
        RequestQueue sends = queuePair.sends();
        sends.completer().succeed(sends.segment(), sends.headAt());
        sends.removeHead();
        queuePair.events().progressed();
    }

    /// Does something as a thread does that polls, or the engine.
    void drive(Runnable work) {
        queuePair.lock().enter();
        try {
            work(work);
        } finally {
            queuePair.lock().leave();
        }
    }

    private void work(Runnable work) {
        assertThat(atWork).as("the transport is called while it is at work").isFalse();
        atWork = true;
        try {
            work.run();
        } finally {
            atWork = false;
        }
    }

    @Override
    public int post(SendRequest[] requests, int first, int end) {
        calls.add("post " + (end - first));
        int taken = queuePair.sends().add(requests, first, end) - first;
        work(onPost);
        return taken;
    }

    @Override
    public void resume() {
        work(() -> calls.add("resume"));
    }

    @Override
    public boolean isDrained() {
        return drained;
    }

    @Override
    public void stop(boolean orderly) {
        work(() -> calls.add("stop"));
    }

    @Override
    public void close() {
        work(() -> calls.add("close"));
    }
}
