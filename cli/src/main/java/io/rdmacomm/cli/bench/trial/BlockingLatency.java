package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RemoteBuffer;
import java.time.Duration;

/// A latency test in blocking calls. They wait in the work mode and the thread mode of the session, while the loops
/// of the other workloads only poll. The data checks are those of the polling workload.
final class BlockingLatency implements Workload {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final TestBed bed;
    private final BenchTest test;
    private final Workload polling;
    private final BlockingChannel channel;
    private final BufferSlice source;
    private final BufferSlice target;
    private final RemoteBuffer remoteSource;
    private final RemoteBuffer remoteTarget;

    /// @param polling the polling workload of the same test
    BlockingLatency(TestBed bed, Workload polling) {
        this.bed = bed;
        this.test = bed.plan().test();
        this.polling = polling;
        this.channel = bed.channel(0).blocking(TIMEOUT);
        this.source = bed.sourceSlice(0);
        this.target = bed.targetSlice(0);
        this.remoteSource = bed.remoteSource();
        this.remoteTarget = bed.remoteTarget();
    }

    @Override
    public void prepare() {
        polling.prepare();
    }

    @Override
    public void initiate(int count, Readings readings) {
        readings.begin();
        for (int i = 0; i < count; i++) {
            perform(i);
            readings.lap();
        }
        readings.end();
    }

    private void perform(int number) {
        switch (test) {
            case SEND_LAT, REQUEST_LAT -> {
                channel.send(source);
                receive();
            }
            case READ_LAT -> channel.read(target, remoteSource, 0);
            case ATOMIC_LAT -> add(number);
            default -> throw new IllegalStateException(test + " has no blocking form");
        }
    }

    private void add(int number) {
        if (channel.fetchAndAdd(remoteTarget, 0, 1) != number) {
            throw new CommandFailure("a fetch-and-add did not return the value that the previous one left");
        }
    }

    private void receive() {
        try (Message message = channel.receive()) {
            bed.messages().onMessage(bed.channel(0), message);
        }
    }

    @Override
    public void answer(int count) {
        if (!test.answersMessages()) {
            polling.answer(count);
            return;
        }
        for (int i = 0; i < count; i++) {
            receive();
            channel.send(source);
        }
    }

    @Override
    public String findCorruption(int count) {
        return polling.findCorruption(count);
    }
}
