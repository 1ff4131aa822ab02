package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// One side's resources for a test: its channels, a source buffer filled with the pattern, a target buffer, and
/// access to both buffers of the peer.
final class TestBed implements AutoCloseable {
    private static final String SOURCE = "bench source";
    private static final String TARGET = "bench target";
    private static final long STEP_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final TrialPlan plan;
    private final EndPoint endPoint;
    private final RdmaChannel first;
    private final RdmaBuffer source;
    private final RdmaBuffer target;
    private final RemoteBuffer remoteSource;
    private final RemoteBuffer remoteTarget;
    private final CompletionCounter completions = new CompletionCounter();
    private final MessageCounter messages;
    private long deadline;

    /// Allocates and announces both buffers, and waits for those of the peer. Both sides call this.
    TestBed(Session session, EndPoint endPoint, TrialPlan plan) {
        this.plan = plan;
        this.endPoint = endPoint;
        this.first = endPoint.channel(0);
        this.messages = new MessageCounter(plan.bytes(), plan.seed());
        this.source = session.allocate(SOURCE, plan.stride(), plan.buffers());
        RdmaBuffer second = null;
        try {
            second = session.allocate(TARGET, plan.stride(), plan.buffers());
            this.target = second;
            for (int i = 0; i < plan.buffers(); i++) {
                DataPattern.fill(sourceSlice(i).segment(), plan.seed());
            }
            if (plan.modes() == null) {
                for (RdmaChannel channel : channels()) {
                    channel.onMessage(messages);
                }
            }
            endPoint.announce(source, AccessFlag.allRemote());
            endPoint.announce(target, rights(plan.test()));
            this.remoteSource = endPoint.peerBuffer(SOURCE, BenchMessage.TIMEOUT);
            this.remoteTarget = endPoint.peerBuffer(TARGET, BenchMessage.TIMEOUT);
        } catch (RuntimeException e) {
            if (second != null) {
                second.close();
            }
            source.close();
            throw e;
        }
    }

    private static Set<AccessFlag> rights(BenchTest test) {
        Set<AccessFlag> rights = AccessFlag.allRemote();
        if (test == BenchTest.VIEW_LAT) {
            rights.add(AccessFlag.DIRECT_VIEW);
        }
        return rights;
    }

    TrialPlan plan() {
        return plan;
    }

    /// A direct view of the peer's target.
    MemorySegment viewOfTarget() {
        MemorySegment view = endPoint.directView(remoteTarget);
        if (view == null) {
            throw new CommandFailure("the peer's memory cannot be mapped here; "
                    + plan.test().label() + " needs a software device that shares memory, on the same host");
        }
        return view;
    }

    RdmaChannel channel(int index) {
        return endPoint.channel(index);
    }

    /// The channels that carry traffic.
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

    CompletionCounter completions() {
        return completions;
    }

    MessageCounter messages() {
        return messages;
    }

    /// Starts the clock of a step, which fails if it takes longer than 30 seconds.
    void begin() {
        deadline = System.nanoTime() + STEP_LIMIT_NANOS;
    }

    /// Polls until this many operations have completed and this many messages have arrived, both since the
    /// connection was made.
    void await(long completed, long received) {
        int spins = 0;
        while (completions.count() < completed || messages.count() < received) {
            first.poll();
            if ((++spins & ClockCost.CHECK_MASK) == 0) {
                checkAlive();
            }
        }
    }

    /// Waits for `time`. No message may arrive in the meantime.
    void idle(Duration time) {
        try (Message _ = first.blocking(time).receive()) {
            throw new CommandFailure("a message arrived that the other side did not send");
        } catch (DeadlineException _) {
            // Expected.
        }
    }

    /// Ends a step: waits until all data that either side has sent, written or read has arrived. On iWARP a
    /// completion alone does not guarantee that, and the control messages use another connection. Both sides call
    /// this.
    void awaitBoth() {
        endPoint.barrier(BenchMessage.TIMEOUT);
    }

    /// Waiting loops call this periodically. Throws if the wait can no longer succeed. Also yields: with fewer
    /// processors than busy threads, the other side may need this processor.
    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    void checkAlive() {
        Thread.yield();
        checkWork();
        if (System.nanoTime() - deadline > 0) {
            throw new CommandFailure("nothing arrived from the other side for "
                    + TimeUnit.NANOSECONDS.toSeconds(STEP_LIMIT_NANOS) + " s: is it stopped?");
        }
    }

    /// Throws if an operation failed or the connection has ended.
    void checkWork() {
        RdmaException cause = endPoint.failure();
        if (cause != null) {
            throw cause;
        }
        WorkStatus failure = completions.failure();
        if (failure != null) {
            throw new CommandFailure("an operation of " + plan.test().label() + " failed: " + failure);
        }
        if (!first.isOpen()) {
            throw new CommandFailure("the other side ended the connection");
        }
    }

    /// Compares the first `bytes` bytes of the first `buffers` target buffers with the peer's source.
    ///
    /// @return where they differ; empty if they do not
    String findCorruption(int buffers, long bytes) {
        for (int i = 0; i < buffers; i++) {
            long at = DataPattern.mismatch(targetSlice(i).segment(), bytes, plan.seed());
            if (at >= 0) {
                return "byte " + at + " of buffer " + i + " at the target differs from what was sent";
            }
        }
        return "";
    }

    @Override
    public void close() {
        target.close();
        source.close();
    }
}
