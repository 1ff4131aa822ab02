package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.data.ChannelMemory;
import io.rdmacomm.comm.data.ChannelSizes;
import io.rdmacomm.comm.data.OwnReceives;
import io.rdmacomm.comm.data.ProgressWait;
import io.rdmacomm.comm.data.RdmaAdapter;
import io.rdmacomm.comm.data.ReceiveMemory;
import io.rdmacomm.comm.progress.GroupLease;
import io.rdmacomm.comm.setup.QueuePairConnector;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.Closer;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The channels of one endpoint with the memory they use: created together, closed together.
final class EndPointChannels implements AutoCloseable {
    private static final long MESSAGE_ROOM = 1024;

    private final Arena arena = Arena.ofShared();
    private final List<GroupLease> leases = new ArrayList<>();
    private final List<RdmaChannel> all = new ArrayList<>();
    private final SessionDevice device;
    private final long poolBytes;
    private final RdmaBuffer cells;
    private @Nullable GroupLease common;
    private @Nullable RdmaBuffer pool;

    /// Creates the control channel and `count` data channels.
    ///
    /// @param endPoint the number of the endpoint
    EndPointChannels(
            SessionDevice device,
            SessionSettings settings,
            String endPointName,
            long endPoint,
            int count,
            EndPointEvents events) {
        List<ChannelOptions> each = new ArrayList<>();
        each.add(ControlChannel.options(settings.channel().connection()));
        for (int i = 0; i < count; i++) {
            each.add(settings.data().configurer().configure(i, settings.channel()));
        }
        SessionReceives shared = device.sharedReceives();
        this.device = device;
        long received = 0;
        long cellBytes = 0;
        for (int i = 0; i < each.size(); i++) {
            // If channels share their receives, only the control channel has its own.
            received += i == 0 || shared == null ? poolBytes(each.get(i)) : 0;
            cellBytes += each.get(i).sizes().cellBytes();
        }
        this.poolBytes = received;
        boolean complete = false;
        try {
            this.cells = device.cells(cellBytes);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
        try {
            common = device.sharedGroup();
            long poolOffset = 0;
            long cellsOffset = 0;
            for (int i = 0; i < each.size(); i++) {
                ChannelOptions channel = each.get(i);
                ChannelSizes sizes = channel.sizes();
                String name = (i == 0 ? "control channel" : "data-" + (i - 1)) + " of " + endPointName;
                GroupLease lease = i == 0 ? new GroupLease(device.control()) : dataGroup(name, sizes);
                leases.add(lease);
                OperationChecks checks = new OperationChecks(
                        device.domain(),
                        endPoint,
                        channel.messageBytes(),
                        device.port().maxMessageSize(),
                        RdmaAdapter.readElements(device.context()));
                MessageReceives messageReceives;
                if (i == 0 || shared == null) {
                    messageReceives = MessageReceives.of(new OwnReceives(
                            channel.receives(),
                            new ReceiveMemory(
                                    () -> pool().region(), poolOffset, channel.receives(), channel.messageBytes()),
                            arena));
                    poolOffset += poolBytes(channel);
                } else {
                    messageReceives = shared.messageReceives(channel);
                }
                all.add(new RdmaChannel(
                        name,
                        i - 1,
                        channel,
                        checks,
                        lease.group(),
                        new ChannelMemory(cells.region(), cellsOffset),
                        messageReceives,
                        new SendCopies(device::copies),
                        arena,
                        settings.deadlines().operation(),
                        events));
                cellsOffset += sizes.cellBytes();
            }
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    private GroupLease dataGroup(String name, ChannelSizes sizes) {
        GroupLease shared = common;
        return shared == null ? device.ownGroup(name, sizes) : new GroupLease(shared.group());
    }

    /// The memory for receives and for one message of the control channel. Allocated when first needed, so that a
    /// peer that has only sent HELLO costs none. The connecting thread makes the first call.
    private RdmaBuffer pool() {
        RdmaBuffer allocated = pool;
        if (allocated == null) {
            allocated = device.pool(poolBytes + MESSAGE_ROOM);
            pool = allocated;
        }
        return allocated;
    }

    private static long poolBytes(ChannelOptions channel) {
        return ReceiveMemory.bytes(channel.receives(), channel.messageBytes());
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
        return pool().slice(poolBytes, MESSAGE_ROOM);
    }

    List<ChannelInfo> infos() {
        List<ChannelInfo> infos = new ArrayList<>();
        for (RdmaChannel channel : all) {
            infos.add(channel.adapter().info(channel.options().connection()));
        }
        return List.copyOf(infos);
    }

    /// Brings all queue pairs up, with receives, and threads that poll.
    void connect(List<ChannelInfo> peer, QueuePairConnector connector) {
        for (int i = 0; i < all.size(); i++) {
            GroupLease lease = leases.get(i);
            all.get(i).connect(peer.get(i), connector, lease::begin);
        }
        data().forEach(device.unclosed()::add);
    }

    /// A wait for the data channels.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    ProgressWait dataWait(long deadline) {
        return new ProgressWait(data().stream().map(RdmaChannel::adapter).toList(), deadline);
    }

    /// Whether the calling thread is in a handler of one of the channels.
    boolean isInHandler() {
        for (RdmaChannel channel : all) {
            if (channel.adapter().group().isPolling()) {
                return true;
            }
        }
        return false;
    }

    /// @throws IllegalStateException in a handler of one of the channels
    void refuseInHandler() {
        all.forEach(channel -> channel.adapter().group().refuseInHandler());
    }

    /// Rejects new operations, fails queued ones, and has the devices flush operations in flight.
    void stop(RdmaException why) {
        all.forEach(channel -> channel.stop(why));
    }

    /// Ends everything in flight after [#stop]: closes the queue pairs; the polling threads run the handlers. If
    /// that runs out of memory, the next call continues. The control channel is last, because it asks for the next
    /// call.
    ///
    /// @param deadline the end of the time for devices to flush
    /// @param polling whether to poll if no library thread does
    void end(long deadline, boolean polling) {
        try {
            new ProgressWait(all.stream().map(RdmaChannel::adapter).toList(), deadline).untilFlushed(polling);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (RdmaChannel channel : all.reversed()) {
            try {
                channel.adapter().end();
            } catch (RuntimeException e) {
                Closer.failed(channel.name(), e);
            }
        }
    }

    /// Frees everything. All handlers have been called when this returns.
    @Override
    public void close() {
        for (RdmaChannel channel : all) {
            device.unclosed().remove(channel);
            Closer.step(channel.name(), channel::close);
        }
        for (GroupLease lease : leases) {
            Closer.step(lease.group().name(), lease::close);
        }
        GroupLease shared = common;
        if (shared != null) {
            shared.close();
        }
        Closer.step("credit cells", cells::close);
        RdmaBuffer allocated = pool;
        if (allocated != null) {
            Closer.step("receives", allocated::close);
        }
        arena.close();
    }
}
