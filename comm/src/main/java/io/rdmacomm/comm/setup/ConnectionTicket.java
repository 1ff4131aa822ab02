package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The private data of a connection request, which tells the server the client and the channel that it is for:
/// 10 bytes in network order, the token and the number of the channel.
///
/// @param token a random number that the server has sent over TCP
/// @param channel 0 for the control channel, then the data channels
record ConnectionTicket(long token, int channel) {
    private static final int BYTES = 10;
    private static final int MOST_READ_ATOMIC = 255;

    /// The token in private data; null if there is none.
    static @Nullable Long tokenIn(byte[] privateData) {
        return privateData.length < BYTES ? null : ByteBuffer.wrap(privateData).getLong();
    }

    /// Whether private data begins with this; some devices pad it with zeros.
    boolean isIn(byte[] privateData) {
        return privateData.length >= BYTES && Arrays.equals(encode(), Arrays.copyOf(privateData, BYTES));
    }

    /// The parameters of a request.
    ///
    /// @param how the options of the queue pair
    ConnectionParameters parameters(ConnectionOptions how) {
        return parametersWithoutTicket(how).withPrivateData(encode());
    }

    /// The parameters of an answer. The connection manager chooses a timeout that the program did not.
    static ConnectionParameters parametersWithoutTicket(ConnectionOptions how) {
        RetryOptions retries = how.retries();
        boolean chosen = !retries.timeout().equals(RetryOptions.defaults().timeout());
        return ConnectionParameters.defaults()
                .withDepths(
                        Math.min(MOST_READ_ATOMIC, how.maxDestinationReadAtomic()),
                        Math.min(MOST_READ_ATOMIC, how.maxReadAtomic()))
                .withRetries(retries.retryCount(), retries.rnrRetry())
                .withAckTimeout(chosen ? retries.timeout() : null);
    }

    /// The options of the identifier. The system chooses a traffic class that the program did not.
    static IdentifierOptions identifierOptions(ConnectionOptions how) {
        int trafficClass = how.path().trafficClass();
        return trafficClass == PathOptions.defaults().trafficClass()
                ? IdentifierOptions.none()
                : IdentifierOptions.none().withTypeOfService(trafficClass);
    }

    private byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(token)
                .putShort((short) channel)
                .array();
    }
}
