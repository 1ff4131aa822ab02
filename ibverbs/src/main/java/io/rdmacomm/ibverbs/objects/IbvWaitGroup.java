package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.LibC;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.util.function.LongSupplier;

/// The descriptors of completion channels in an epoll(7) instance. Its own descriptor can be waited for like that
/// of one channel.
final class IbvWaitGroup implements WaitGroupDriver {
    private final NativeContext device;
    private final int set;
    private final EventSource source;
    private final LongSupplier next;

    IbvWaitGroup(NativeContext device) {
        this.device = device;
        this.set = LibC.createPollSet();
        if (set < 0) {
            throw new VerbException(
                    "create wait group (epoll_create1)",
                    Errno.EMFILE,
                    "no file descriptor is left for " + this + "; raise the limit (ulimit -n)");
        }
        this.source = new EventSource(set, device.toString());
        this.next = () -> LibC.nextOfPollSet(set);
    }

    private static int file(CompletionChannelDriver channel) {
        return NativeMemory.at(channel.handle(), CompletionLayouts.CHANNEL_BYTES)
                .get(JAVA_INT, CompletionLayouts.CHANNEL_FILE);
    }

    @Override
    public void add(CompletionChannelDriver channel) {
        if (!LibC.addToPollSet(set, file(channel), channel.handle())) {
            throw new VerbException(
                    "add completion channel to wait group (epoll_ctl)",
                    Errno.ENOSPC,
                    this + " has no room for " + channel + "; see /proc/sys/fs/epoll/max_user_watches");
        }
    }

    @Override
    public void remove(CompletionChannelDriver channel) {
        LibC.removeFromPollSet(set, file(channel));
    }

    @Override
    public long await(long timeoutNanos) throws InterruptedException {
        return source.take(timeoutNanos, next);
    }

    @Override
    public void wakeUp() {
        source.wakeUp();
    }

    @Override
    public void closing() {
        source.wake();
    }

    @Override
    public void close() {
        source.close();
        LibC.close(set);
    }

    @Override
    public String toString() {
        return "wait group on " + device;
    }
}
