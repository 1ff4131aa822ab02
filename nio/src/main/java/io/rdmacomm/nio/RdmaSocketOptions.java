package io.rdmacomm.nio;

import io.rdmacomm.nio.channel.RsocketOption;
import java.net.SocketOption;

/// Options of sockets over RDMA, in addition to those of [java.net.StandardSocketOptions].
public final class RdmaSocketOptions {
    /// The limit of messages that have arrived unread, and of those in flight (`RDMA_RQSIZE` and `RDMA_SQSIZE` of
    /// rsocket(7)): 32 to 32,767; other values are raised or reduced to this range. The default is 112. Each write
    /// is at least one message, so a program that writes few bytes at a time may need more. A message takes about
    /// 500 bytes of memory at each end.
    ///
    /// Set it before `connect`, or before `bind` of a server for the sockets that it accepts. Sockets that stay
    /// with TCP keep the value without effect.
    public static final SocketOption<Integer> MESSAGES = RsocketOption.MESSAGES;

    /// The number of memory ranges that the peer may map for this end to write (`RDMA_IOMAPSIZE` of rsocket(7)): 0
    /// to 128, or a multiple of 256 up to 32,512; other values are reduced to one of these. The default is 0, as in
    /// C. See [MappedMemory].
    ///
    /// Set it before `connect`, or before `bind` of a server for the sockets that it accepts. Sockets that stay
    /// with TCP keep the value without effect.
    public static final SocketOption<Integer> MAPPINGS = RsocketOption.MAPPINGS;

    private RdmaSocketOptions() {}
}
