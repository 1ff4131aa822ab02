package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.WatchedSocket;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// A side whose trial runs over a socket. Writes and reads each message separately.
final class SocketSide implements TrialSide {
    private static final int ANSWER_BYTES = 1;

    private final TrialPlan plan;
    private final WatchedSocket socket;
    private final boolean latency;
    private final ByteBuffer source;
    private final ByteBuffer target;
    private final MemorySegment received;
    private final ByteBuffer answer = ByteBuffer.allocateDirect(ANSWER_BYTES);
    private int checkFrom;
    private long wrongAt = -1;

    SocketSide(TrialPlan plan, WatchedSocket socket) {
        this.plan = plan;
        this.socket = socket;
        this.latency = plan.test().kind() == BenchTest.Kind.LATENCY;
        this.source = ByteBuffer.allocateDirect((int) plan.bytes());
        this.target = ByteBuffer.allocateDirect((int) plan.bytes());
        this.received = MemorySegment.ofBuffer(target);
        DataPattern.fill(MemorySegment.ofBuffer(source), plan.seed());
    }

    @Override
    public TrialPlan plan() {
        return plan;
    }

    /// The warm-up checks one message as well. Otherwise the JIT compiler would compile code without the check, and
    /// discard that code at the first check.
    @Override
    public void prepare(StepMode mode, int count) {
        checkFrom = mode == StepMode.CHECK ? 0 : count - 1;
        received.fill((byte) 0);
    }

    @Override
    public CpuMeter cpuMeter() {
        return new CpuMeter(CpuTime::ofJavaThreads);
    }

    @Override
    public void initiate(StepMode mode, int count, Readings readings) {
        readings.begin();
        for (int i = 0; i < count; i++) {
            send();
            if (latency) {
                receive(i);
                readings.lap();
            }
        }
        if (!latency) {
            socket.receive(answer.clear());
        }
        readings.end();
    }

    @Override
    public void answer(StepMode mode, int count) {
        for (int i = 0; i < count; i++) {
            receive(i);
            if (latency) {
                send();
            }
        }
        if (!latency) {
            socket.send(answer.clear());
        }
    }

    private void send() {
        socket.send(source.clear());
    }

    private void receive(int number) {
        socket.receive(target.clear());
        if (number >= checkFrom && wrongAt < 0) {
            wrongAt = DataPattern.mismatch(received, plan.bytes(), plan.seed());
        }
    }

    /// Needs no barrier: both sides receive their last message of a step before it ends.
    @Override
    public void endStep(StepMode mode) {
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitIdle();
        }
    }

    @Override
    public void verify(StepMode mode, int count, boolean receives) {
        if (receives && wrongAt >= 0) {
            throw new CommandFailure(plan.test().label() + " of " + plan.bytes() + " bytes: byte " + wrongAt
                    + " of a message differs from what was sent");
        }
    }
}
