package io.rdmacomm.nio.channel;

import java.net.SocketOption;

/// The options of sockets that only rsockets have.
///
/// @param name the name, for messages
public record RsocketOption(String name) implements SocketOption<Integer> {
    /// `RDMA_RQSIZE` and `RDMA_SQSIZE`.
    public static final RsocketOption MESSAGES = new RsocketOption("MESSAGES");
    /// `RDMA_IOMAPSIZE`.
    public static final RsocketOption MAPPINGS = new RsocketOption("MAPPINGS");

    @Override
    public Class<Integer> type() {
        return Integer.class;
    }

    @Override
    public String toString() {
        return name;
    }
}
