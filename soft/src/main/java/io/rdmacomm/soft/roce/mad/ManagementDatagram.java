package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// A management datagram with a message of the connection manager (IBTA 13.4.2).
///
/// @param transaction the same in a request and its answers
public record ManagementDatagram(long transaction, ConnectionMessage message) {
    /// The length of every management datagram.
    public static final int BYTES = 256;

    static final int HEADER_BYTES = 24;

    /// Base version 1, the class of communication management in version 2, method Send (IBTA 16.7.1).
    private static final int KIND = 0x01070203;

    private static final int TRANSACTION_AT = 8;
    private static final int ATTRIBUTE_AT = 16;

    /// Writes it to the beginning of a buffer.
    public void encode(ByteBuffer to) {
        for (int at = 0; at < BYTES; at += Long.BYTES) {
            to.putLong(at, 0);
        }
        to.putInt(0, KIND);
        to.putLong(TRANSACTION_AT, transaction);
        to.putShort(ATTRIBUTE_AT, (short) message.attribute());
        message.encode(to.slice(HEADER_BYTES, BYTES - HEADER_BYTES));
    }

    /// Reads one from the beginning of a buffer of [#BYTES] bytes.
    ///
    /// @return null if its message is not supported here
    public static @Nullable ManagementDatagram decode(ByteBuffer from) {
        if (from.getInt(0) != KIND) {
            return null;
        }
        ByteBuffer body = from.slice(HEADER_BYTES, BYTES - HEADER_BYTES);
        ConnectionMessage message = switch (from.getShort(ATTRIBUTE_AT)) {
            case ConnectRequest.ATTRIBUTE -> ConnectRequest.decode(body);
            case Receipt.ATTRIBUTE -> Receipt.decode(body);
            case Rejection.ATTRIBUTE -> Rejection.decode(body);
            case ConnectReply.ATTRIBUTE -> ConnectReply.decode(body);
            case ReadyToUse.ATTRIBUTE -> ReadyToUse.decode(body);
            case DisconnectRequest.ATTRIBUTE -> DisconnectRequest.decode(body);
            case DisconnectReply.ATTRIBUTE -> DisconnectReply.decode(body);
            case ServiceRequest.ATTRIBUTE -> ServiceRequest.decode(body);
            case ServiceReply.ATTRIBUTE -> ServiceReply.decode(body);
            default -> null;
        };
        return message == null ? null : new ManagementDatagram(from.getLong(TRANSACTION_AT), message);
    }
}
