package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// A message of the connection manager (IBTA 12.6), without the common header of management datagrams.
public sealed interface ConnectionMessage
        permits ConnectRequest,
                Receipt,
                Rejection,
                ConnectReply,
                ReadyToUse,
                DisconnectRequest,
                DisconnectReply,
                ServiceRequest,
                ServiceReply {
    /// The length of the part that a message can use.
    int BYTES = ManagementDatagram.BYTES - ManagementDatagram.HEADER_BYTES;

    /// The number of this kind of message (IBTA 12.6.1).
    int attribute();

    /// Writes it to the beginning of a buffer of [#BYTES] zeros.
    void encode(ByteBuffer to);
}
