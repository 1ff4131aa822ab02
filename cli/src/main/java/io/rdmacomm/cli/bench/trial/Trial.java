package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import java.io.IOException;
import java.time.Duration;

/// The client's side of a connection for one test with one message size.
public interface Trial extends AutoCloseable {
    /// The name by which the server recognizes the sessions that carry tests.
    String NAME = "bench data";

    /// Agrees on the plan with the server, and makes the connection.
    ///
    /// @param session the session that carries the control messages
    static Trial open(
            FrameChannel<BenchMessage> control, ClientSession session, SessionOptions options, TrialPlan plan) {
        if (plan.test().usesSocket()) {
            return ReliableTrial.overSocket(control, session, plan);
        }
        return plan.service().isReliable()
                ? ReliableTrial.open(control, options, plan)
                : UnreliableTrial.open(control, session, options, plan);
    }

    /// Performs a step of `count` operations; see [Workload#initiate].
    ///
    /// @return the CPU time of both sides
    StepUse step(int count, StepMode mode, Readings readings);

    /// The current time that a cache line takes between the two sides, in microseconds; 0 if unknown.
    default double cacheLineMicros() throws IOException {
        return 0;
    }

    /// How many operations of the last step took effect: all, unless messages were lost.
    int completed();

    /// The compiler time of both sides at the end of the last step; see [CompilerTime#nanos()].
    long compilerNanos();

    /// How long it took to set up the connection.
    Duration setupTime();

    /// The messages of all measured steps; [Result.Losses#NONE] if the transport loses none.
    Result.Losses losses();

    @Override
    void close();
}
