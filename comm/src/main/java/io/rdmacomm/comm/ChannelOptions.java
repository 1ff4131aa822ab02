package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ChannelSizes;
import io.rdmacomm.verbs.ConnectionOptions;

/// The options of one channel: its queues and its queue pair.
///
/// @param sendWindow how many operations may be in flight, 1 to 65536; further ones must wait
/// @param receives how many messages and notices may arrive before the receiver handles them, 1 to 65536; with
///         [SharedReceives] the most that may ever, and not allocated
/// @param messageBytes the longest message that can be received, 0 to 16 MiB; receives times this is allocated
/// @param inlineBytes payloads up to this length are copied when they are posted, 0 to 1024
/// @param connection how the queue pair connects: port, GID index, rights, retries, traffic class
public record ChannelOptions(
        int sendWindow, int receives, int messageBytes, int inlineBytes, ConnectionOptions connection) {
    /// Checks the ranges.
    public ChannelOptions {
        Bounds.range("send window", sendWindow, 1, 1 << 16);
        Bounds.range("receives", receives, 1, 1 << 16);
        Bounds.range("message bytes", messageBytes, 0, 1 << 24);
        Bounds.range("inline bytes", inlineBytes, 0, 1024);
    }

    /// 128 operations in flight, 64 receives of 16 KiB, 64 bytes inline.
    public static ChannelOptions defaults() {
        return new ChannelOptions(128, 64, 16 << 10, 64, ConnectionOptions.defaults());
    }

    /// These options with another send window.
    public ChannelOptions withSendWindow(int value) {
        return new ChannelOptions(value, receives, messageBytes, inlineBytes, connection);
    }

    /// These options with another number of receives.
    public ChannelOptions withReceives(int value) {
        return new ChannelOptions(sendWindow, value, messageBytes, inlineBytes, connection);
    }

    /// These options with another limit for the length of a message.
    public ChannelOptions withMessageBytes(int value) {
        return new ChannelOptions(sendWindow, receives, value, inlineBytes, connection);
    }

    /// These options with another limit for inline payloads.
    public ChannelOptions withInlineBytes(int value) {
        return new ChannelOptions(sendWindow, receives, messageBytes, value, connection);
    }

    /// These options with other connection options.
    public ChannelOptions withConnection(ConnectionOptions value) {
        return new ChannelOptions(sendWindow, receives, messageBytes, inlineBytes, value);
    }

    ChannelSizes sizes() {
        return new ChannelSizes(sendWindow, receives, messageBytes, inlineBytes);
    }
}
