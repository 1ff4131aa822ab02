package io.rdmacomm.fault;

import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/// Also reports a channel when a completion held back by one of its queues becomes due.
final class FaultWaitGroup extends RecheckedWait<WaitGroupDriver> implements WaitGroupDriver {
    private final Map<Long, FaultCompletionChannel> channels;
    private final List<FaultCompletionChannel> members = new CopyOnWriteArrayList<>();

    /// @param channels the channels of the context, by their handles
    FaultWaitGroup(WaitGroupDriver real, Map<Long, FaultCompletionChannel> channels) {
        super(real);
        this.channels = channels;
    }

    @Override
    public void add(CompletionChannelDriver driver) {
        real.add(driver);
        FaultCompletionChannel channel = channels.get(driver.handle());
        if (channel != null) {
            members.add(channel);
            channel.join(this);
            recheck();
        }
    }

    @Override
    public void remove(CompletionChannelDriver driver) {
        FaultCompletionChannel channel = channels.get(driver.handle());
        if (channel != null) {
            channel.leave(this);
            members.remove(channel);
        }
        real.remove(driver);
    }

    @Override
    void recheck() {
        real.wakeUp();
    }

    @Override
    public long await(long timeoutNanos) throws InterruptedException {
        return awaitOrDue(timeoutNanos);
    }

    @Override
    long awaitNext(long nanos) throws InterruptedException {
        long now = System.nanoTime();
        long wait = nanos;
        for (FaultCompletionChannel channel : members) {
            long untilDue = channel.untilDue(now);
            if (untilDue <= 0) {
                return channel.handle();
            }
            wait = Math.min(wait, untilDue);
        }
        return real.await(wait);
    }
}
