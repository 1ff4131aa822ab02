package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;
import java.time.Duration;

/// The control messages of a benchmark, which client and server exchange between measurements.
public enum BenchMessage {
    /// Confirms a request.
    OK,
    /// Rejects a request, or reports a failure; the text explains it.
    FAILED,
    /// The client asks for a file to measure how fast a cache line moves between two processes. The answer READY
    /// has its name; the client sends OK if it finds the file, or else FAILED.
    FLOOR,
    /// The client describes the test that the next connection is for: a [TrialPlan].
    TRIAL,
    /// The client asks for a number of operations in a mode of steps.
    STEP,
    /// The server is ready.
    READY,
    /// The client has finished the operations of a step.
    DONE,
    /// The server reports the cost of a step.
    REPORT,
    /// The client no longer needs the connection.
    END,
    /// The client asks for a plain TCP socket to measure; the answer carries its port.
    SOCKET,
    /// Each side describes the queue pair of an unreliable test.
    QUEUE_PAIR;

    /// How long either side waits for a message.
    static final Duration TIMEOUT = Duration.ofSeconds(40);

    /// Frames with the magic "RCB1".
    static final FrameCodec<BenchMessage> CODEC = new FrameCodec<>(
            0x52434231, BenchMessage.class, "start `rdmacomm bench --server` there, in the same version");

    /// Exchanges control messages over `channel`.
    public static FrameChannel<BenchMessage> over(Session session, RdmaChannel channel) {
        return new FrameChannel<>(session, channel, CODEC, "bench control", TIMEOUT);
    }
}
