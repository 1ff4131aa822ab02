package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.WorkStatus;
import java.util.concurrent.TimeUnit;

/// What a test works with on one side: its channels, a source with the pattern in it, a target, and both of
/// the peer.
final class TestBed implements AutoCloseable {
    private static final String SOURCE = "bench source";
    private static final String TARGET = "bench target";
    private static final long STEP_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final TrialPlan plan;
    private final EndPoint endPoint;
    private final RdmaBuffer source;
    private final RdmaBuffer target;
    private final RemoteBuffer remoteSource;
    private final RemoteBuffer remoteTarget;
    private final Tally tally = new Tally();
    private final Arrivals arrivals;
    private long deadline;

    /// Allocates and announces both buffers, and waits for those of the peer. Both sides call this.
    TestBed(Session session, EndPoint endPoint, TrialPlan plan) {
        this.plan = plan;
        this.endPoint = endPoint;
        this.arrivals = new Arrivals(plan.bytes(), plan.seed());
        this.source = session.allocate(SOURCE, plan.stride(), plan.buffers());
        RdmaBuffer second = null;
        try {
            second = session.allocate(TARGET, plan.stride(), plan.buffers());
            this.target = second;
            for (int i = 0; i < plan.buffers(); i++) {
                Pattern.fill(sourceSlice(i).segment(), plan.seed());
            }
            for (int i = 0; i < plan.queuePairs(); i++) {
                endPoint.channel(i).onMessage(arrivals);
            }
            endPoint.announce(source);
            endPoint.announce(target);
            this.remoteSource = endPoint.peerBuffer(SOURCE, SignalChannel.PATIENCE);
            this.remoteTarget = endPoint.peerBuffer(TARGET, SignalChannel.PATIENCE);
        } catch (RuntimeException e) {
            if (second != null) {
                second.close();
            }
            source.close();
            throw e;
        }
    }

    TrialPlan plan() {
        return plan;
    }

    RdmaChannel channel(int index) {
        return endPoint.channel(index);
    }

    /// All channels that carry traffic.
    RdmaChannel[] channels() {
        return endPoint.channels().subList(0, plan.queuePairs()).toArray(RdmaChannel[]::new);
    }

    RdmaBuffer source() {
        return source;
    }

    RdmaBuffer target() {
        return target;
    }

    RemoteBuffer remoteSource() {
        return remoteSource;
    }

    RemoteBuffer remoteTarget() {
        return remoteTarget;
    }

    BufferSlice sourceSlice(int index) {
        return source.slice(index * plan.stride(), plan.bytes());
    }

    BufferSlice targetSlice(int index) {
        return target.slice(index * plan.stride(), plan.bytes());
    }

    Tally tally() {
        return tally;
    }

    Arrivals arrivals() {
        return arrivals;
    }

    /// Begins a step: from now on it has so long.
    void begin() {
        deadline = System.nanoTime() + STEP_LIMIT_NANOS;
    }

    /// Ends a step: waits until all that either side has sent, written or read has arrived. A completion alone
    /// does not say so on iWARP, and what the two sides tell each other goes over another connection. Both sides
    /// call this.
    void settle() {
        endPoint.barrier(SignalChannel.PATIENCE);
    }

    /// Called now and then by a loop that waits: ends it when what it waits for cannot come any more. Where
    /// more threads want to run than there are processors, the other side may be waiting for this one's.
    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    void checkAlive() {
        Thread.yield();
        checkWork();
        if (System.nanoTime() - deadline > 0) {
            throw new CommandFailure("nothing arrived from the other side for "
                    + TimeUnit.NANOSECONDS.toSeconds(STEP_LIMIT_NANOS) + " s: is it stopped?");
        }
    }

    /// Throws when an operation has failed or the connection has ended.
    void checkWork() {
        CommException cause = endPoint.failure();
        if (cause != null) {
            throw cause;
        }
        WorkStatus failure = tally.failure();
        if (failure != null) {
            throw new CommandFailure("an operation of " + plan.test().label() + " failed: " + failure);
        }
        if (!endPoint.channel(0).isOpen()) {
            throw new CommandFailure("the other side ended the connection");
        }
    }

    @Override
    public void close() {
        target.close();
        source.close();
    }
}
