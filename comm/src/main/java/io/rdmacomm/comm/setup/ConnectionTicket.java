package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The private data of a connection request, which identifies the client and the channel to the server: 10
/// bytes in network order, the token and the number of the channel.
///
/// @param token a random number that the server has sent over TCP
/// @param channel 0 for the control channel, then the data channels
record ConnectionTicket(long token, int channel) {
    private static final int BYTES = 10;

    /// The token in private data; null if there is none.
    static @Nullable Long tokenIn(byte[] privateData) {
        return privateData.length < BYTES ? null : ByteBuffer.wrap(privateData).getLong();
    }

    /// Whether private data begins with this ticket; some devices pad it with zeros.
    boolean isIn(byte[] privateData) {
        return privateData.length >= BYTES && Arrays.equals(encode(), Arrays.copyOf(privateData, BYTES));
    }

    /// The parameters of a request.
    ///
    /// @param how the options of the queue pair
    ConnectionParameters parameters(ConnectionOptions how) {
        return ConnectionParameters.of(how).withPrivateData(encode());
    }

    private byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(token)
                .putShort((short) channel)
                .array();
    }
}
