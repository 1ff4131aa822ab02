package io.rdmacomm.comm;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// The channels of one end point with the memory they use: created together, closed together.
final class EndPointChannels implements AutoCloseable {
    private static final long POLL_NANOS = 20_000;
    private static final long MESSAGE_ROOM = 1024;

    private final Arena arena = Arena.ofShared();
    private final List<GroupLease> leases = new ArrayList<>();
    private final List<RdmaChannel> all = new ArrayList<>();
    private final RdmaBuffer pool;
    private final RdmaBuffer cells;
    private final BufferSlice outgoing;

    /// Creates the control channel and `count` data channels.
    ///
    /// @param endPoint the number of the end point
    EndPointChannels(
            SessionDevice device,
            SessionOptions options,
            String endPointName,
            long endPoint,
            int count,
            RdmaChannel.Owner owner) {
        List<ChannelOptions> each = new ArrayList<>();
        each.add(ControlChannel.options(options));
        for (int i = 0; i < count; i++) {
            each.add(options.configurer().configure(i, options.channel()));
        }
        long poolBytes = each.stream().mapToLong(ChannelMemory::poolBytes).sum();
        long cellBytes = each.stream().mapToLong(ChannelMemory::cellBytes).sum();
        this.pool = device.pool(poolBytes + MESSAGE_ROOM);
        boolean complete = false;
        try {
            this.cells = device.cells(cellBytes);
        } catch (RuntimeException e) {
            pool.close();
            arena.close();
            throw e;
        }
        this.outgoing = pool.slice(poolBytes, MESSAGE_ROOM);
        try {
            long poolOffset = 0;
            long cellsOffset = 0;
            for (int i = 0; i < each.size(); i++) {
                ChannelOptions channel = each.get(i);
                String name = (i == 0 ? "control" : "data-" + (i - 1)) + " of " + endPointName;
                GroupLease lease =
                        i == 0 ? new GroupLease(device.control(), () -> {}) : device.dataGroup(name, channel);
                leases.add(lease);
                ChannelRules rules = new ChannelRules(
                        device.domain(),
                        endPoint,
                        channel.messageBytes(),
                        device.port().maxMessageSize(),
                        channel.inlineBytes());
                all.add(new RdmaChannel(
                        name,
                        i - 1,
                        channel,
                        rules,
                        lease.group(),
                        new ChannelMemory(pool, poolOffset, cells, cellsOffset),
                        arena,
                        options.deadlines().operation(),
                        owner));
                poolOffset += ChannelMemory.poolBytes(channel);
                cellsOffset += ChannelMemory.cellBytes(channel);
            }
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    /// The control channel first, then the data channels.
    List<RdmaChannel> all() {
        return all;
    }

    RdmaChannel control() {
        return all.getFirst();
    }

    List<RdmaChannel> data() {
        return List.copyOf(all.subList(1, all.size()));
    }

    /// Memory for one message of the control channel.
    BufferSlice outgoing() {
        return outgoing;
    }

    List<ChannelInfo> infos() {
        return all.stream().map(channel -> channel.adapter().info()).toList();
    }

    /// Brings all queue pairs up.
    void connect(List<ChannelInfo> peer, QueuePairConnector connector) {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).connect(peer.get(i), connector);
        }
    }

    /// Whether the calling thread is in a handler of one of the channels.
    boolean isInHandler() {
        return all.stream().anyMatch(channel -> channel.adapter().group().isPolling());
    }

    /// Flushes everything; nothing more can be started.
    void stop(CommException why) {
        all.forEach(channel -> channel.stop(why));
    }

    /// Waits until none of `some` has anything in flight. Makes progress where no library thread does.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return whether that is so
    static boolean drain(List<RdmaChannel> some, long deadline) {
        boolean interrupted = false;
        boolean idle = false;
        while (!idle) {
            idle = true;
            for (RdmaChannel channel : some) {
                RdmaAdapter adapter = channel.adapter();
                if (!adapter.isIdle() && !adapter.group().isBroken()) {
                    idle = false;
                    if (adapter.group().isCallerDriven()) {
                        adapter.group().poll();
                    }
                }
            }
            if (!idle) {
                if (System.nanoTime() - deadline >= 0) {
                    break;
                }
                LockSupport.parkNanos(POLL_NANOS);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return idle;
    }

    /// Frees everything; what is in flight is flushed.
    @Override
    public void close() {
        for (RdmaChannel channel : all) {
            Closer.step(channel.name(), () -> channel.adapter().close());
        }
        for (GroupLease lease : leases) {
            Closer.step(lease.group().name(), lease::close);
        }
        Closer.step("credit cells", cells::close);
        Closer.step("receives", pool::close);
        arena.close();
    }
}
