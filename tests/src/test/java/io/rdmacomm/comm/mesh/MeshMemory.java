package io.rdmacomm.comm.mesh;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.data.ChannelSizes;
import io.rdmacomm.comm.data.ReceiveMemory;

/// The memory that connections take on one node, in bytes, by the formulas of the library.
public final class MeshMemory {
    /// Of the control channel, which is not configurable.
    private static final ChannelOptions CONTROL =
            ChannelOptions.defaults().withSendWindow(8).withReceives(16).withMessageBytes(32 + 512);
    private static final long MESSAGE_ROOM = 1024;
    /// The channel of the program, and that of the mesh.
    private static final int CHANNELS = 2;

    private MeshMemory() {}

    /// The receives of the data channels of one connection.
    public static long receives(ChannelOptions channel) {
        return CHANNELS * ReceiveMemory.bytes(channel.receives(), channel.messageBytes());
    }

    /// One pool of receives for the data channels of all connections.
    public static long sharedReceives(SharedReceives pool, ChannelOptions channel) {
        return ReceiveMemory.bytes(pool.receives(), channel.messageBytes());
    }

    /// The control channel of one connection, and the cells of all three.
    public static long control(ChannelOptions channel) {
        return ReceiveMemory.bytes(CONTROL.receives(), CONTROL.messageBytes())
                + MESSAGE_ROOM
                + cells(CONTROL)
                + CHANNELS * cells(channel);
    }

    private static long cells(ChannelOptions channel) {
        return new ChannelSizes(channel.sendWindow(), channel.receives(), channel.messageBytes(), channel.inlineBytes())
                .cellBytes();
    }

    /// The slots of one peer of collectives, and the headers for it.
    ///
    /// @param peers with slots
    public static long slots(ChannelOptions channel, CollectiveOptions options, int peers) {
        CollectiveOptions settled = options.settled(peers);
        return Partner.outgoingBytes(channel.sendWindow(), settled) + Partner.incomingBytes(settled);
    }

    /// The objects that collectives make for one peer: a slice for each header and each slot.
    public static long slices(ChannelOptions channel, CollectiveOptions options) {
        return channel.sendWindow() + 2L + (long) Lane.STREAMS * options.slots();
    }
}
