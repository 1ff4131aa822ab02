package io.rdmacomm.comm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.TransportType;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/// The channels of one end point with the memory they use: created together, closed together.
final class EndPointChannels implements AutoCloseable {
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
        Context context = device.domain().context();
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
                        channel.inlineBytes(),
                        !context.supports(Capability.ORDERED_COMPLETIONS),
                        // On InfiniBand and RoCE an operation ends when the peer has acknowledged it, on iWARP when TCP
                        // has taken it (RFC 5040, section 5.5). What is neither may have a peer on iWARP.
                        context.device().transport() != TransportType.INFINIBAND);
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
