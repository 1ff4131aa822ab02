package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ChannelSizes;
import io.rdmacomm.verbs.ConnectionOptions;

/// The options of one channel: its queues and its queue pair. Immutable.
public final class ChannelOptions extends ValueObject<ChannelOptions.Values> {
    private static final ChannelOptions DEFAULTS =
            new ChannelOptions(new ChannelSizes(128, 64, 16 << 10, 64), ConnectionOptions.defaults());

    record Values(ChannelSizes sizes, ConnectionOptions connection) {}

    private ChannelOptions(ChannelSizes sizes, ConnectionOptions connection) {
        super(new Values(sizes, connection));
    }

    /// 128 operations in flight, 64 receives of 16 KiB, 64 bytes inline.
    public static ChannelOptions defaults() {
        return DEFAULTS;
    }

    /// The number of operations that may be in flight. Further ones must wait.
    public int sendWindow() {
        return sizes().sendWindow();
    }

    /// The number of messages and notices that may arrive before the receiver handles them. With
    /// [SharedReceives] this is an upper limit, and nothing is allocated.
    public int receives() {
        return sizes().receives();
    }

    /// The length in bytes of the longest message that can be received; a channel allocates this for each
    /// receive.
    public int messageBytes() {
        return sizes().messageBytes();
    }

    /// Payloads up to this length in bytes are copied when they are posted.
    public int inlineBytes() {
        return sizes().inlineBytes();
    }

    /// The connection of the queue pair: port, GID index, rights, retries, traffic class.
    public ConnectionOptions connection() {
        return values.connection;
    }

    /// These options with another send window.
    ///
    /// @param value 1 to 65536
    /// @throws IllegalArgumentException if it is out of its range
    public ChannelOptions withSendWindow(int value) {
        Bounds.range("send window", value, 1, 1 << 16);
        return with(new ChannelSizes(value, receives(), messageBytes(), inlineBytes()));
    }

    /// These options with another number of receives.
    ///
    /// @param value 1 to 65536
    /// @throws IllegalArgumentException if it is out of its range
    public ChannelOptions withReceives(int value) {
        Bounds.range("receives", value, 1, 1 << 16);
        return with(new ChannelSizes(sendWindow(), value, messageBytes(), inlineBytes()));
    }

    /// These options with another limit for the length of a message.
    ///
    /// @param value 0 to 16 MiB
    /// @throws IllegalArgumentException if it is out of its range
    public ChannelOptions withMessageBytes(int value) {
        Bounds.range("message bytes", value, 0, 1 << 24);
        return with(new ChannelSizes(sendWindow(), receives(), value, inlineBytes()));
    }

    /// These options with another limit for inline payloads.
    ///
    /// @param value 0 to 1024
    /// @throws IllegalArgumentException if it is out of its range
    public ChannelOptions withInlineBytes(int value) {
        Bounds.range("inline bytes", value, 0, 1024);
        return with(new ChannelSizes(sendWindow(), receives(), messageBytes(), value));
    }

    /// These options with other connection options.
    public ChannelOptions withConnection(ConnectionOptions value) {
        return new ChannelOptions(sizes(), value);
    }

    private ChannelOptions with(ChannelSizes sizes) {
        return new ChannelOptions(sizes, connection());
    }

    ChannelSizes sizes() {
        return values.sizes;
    }
}
