package io.rdmacomm.nio;

import io.rdmacomm.nio.channel.RsocketOption;
import java.net.SocketOption;

/// Options of sockets over RDMA, beside those of [java.net.StandardSocketOptions].
public final class RdmaSocketOptions {
    /// The number of messages that may have arrived unread, and that may be on their way (`RDMA_RQSIZE` and
    /// `RDMA_SQSIZE` of rsocket(7)): 32 to 32,767; other values are raised or reduced to these. The default is
    /// 112. Each write is a message at least, so a program that writes few bytes at a time may want more. A
    /// message takes about 500 bytes of memory at each end.
    ///
    /// Set it before `connect`, or before `bind` of a server for the sockets that it accepts. Sockets that stay
    /// with TCP keep the value without effect.
    public static final SocketOption<Integer> MESSAGES = RsocketOption.MESSAGES;

    /// How many stretches of its memory the peer may map for this end to write (`RDMA_IOMAPSIZE` of rsocket(7)): 0
    /// to 128, or a multiple of 256 up to 32,512; other values are reduced to these. The default is 0, as in C.
    /// See [MappedMemory].
    ///
    /// Set it before `connect`, or before `bind` of a server for the sockets that it accepts. Sockets that stay
    /// with TCP keep the value without effect.
    public static final SocketOption<Integer> MAPPINGS = RsocketOption.MAPPINGS;

    private RdmaSocketOptions() {}
}
