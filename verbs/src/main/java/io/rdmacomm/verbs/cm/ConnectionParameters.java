package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.RetryOptions;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The parameters that each side of a connection requests (`struct rdma_conn_param`, rdma_connect(3),
/// rdma_accept(3)). Immutable.
public final class ConnectionParameters {
    private static final int MOST_READ_ATOMIC = 255;
    private static final ConnectionParameters DEFAULTS = new ConnectionParameters(new byte[0], 16, 16, 7, 7, null);

    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final int retryCount;
    private final int rnrRetry;
    private final @Nullable AckTimeout ackTimeout;

    private ConnectionParameters(
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            int retryCount,
            int rnrRetry,
            @Nullable AckTimeout ackTimeout) {
        checkRange("responder resources", responderResources, 255);
        checkRange("initiator depth", initiatorDepth, 255);
        checkRange("retry count", retryCount, 7);
        checkRange("RNR retry count", rnrRetry, 7);
        this.privateData = privateData;
        this.responderResources = responderResources;
        this.initiatorDepth = initiatorDepth;
        this.retryCount = retryCount;
        this.rnrRetry = rnrRetry;
        this.ackTimeout = ackTimeout;
    }

    /// No private data, 16 READs and atomics each way, 7 retries of each kind, and the timeout that
    /// the connection manager chooses.
    public static ConnectionParameters defaults() {
        return DEFAULTS;
    }

    /// The parameters with the READs, atomics and retries of options for [io.rdmacomm.verbs.QueuePair#connect]. If
    /// the timeout there is the default, the connection manager chooses it.
    public static ConnectionParameters of(ConnectionOptions how) {
        RetryOptions retries = how.retries();
        boolean chosen = !retries.timeout().equals(RetryOptions.defaults().timeout());
        ConnectionParameters parameters = DEFAULTS.withDepths(
                        Math.min(MOST_READ_ATOMIC, how.maxDestinationReadAtomic()),
                        Math.min(MOST_READ_ATOMIC, how.maxReadAtomic()))
                .withRetries(retries.retryCount(), retries.rnrRetry());
        return chosen ? parameters.withAckTimeout(retries.timeout()) : parameters;
    }

    /// These parameters with other private data: bytes for the peer's program, delivered with the request or
    /// reply, at most [ConnectionManager#privateDataLimit()].
    public ConnectionParameters withPrivateData(byte[] value) {
        return new ConnectionParameters(
                value.clone(), responderResources, initiatorDepth, retryCount, rnrRetry, ackTimeout);
    }

    /// These parameters with other depths for READs and atomics.
    ///
    /// @param responder the number that the peer may have in flight, 0 to 255
    /// @param initiator the number that this side may have in flight, 0 to 255
    /// @throws IllegalArgumentException if a number is out of its range
    public ConnectionParameters withDepths(int responder, int initiator) {
        return new ConnectionParameters(privateData, responder, initiator, retryCount, rnrRetry, ackTimeout);
    }

    /// These parameters with other retry counts; not used on iWARP.
    ///
    /// @param retries how often an unacknowledged request is retried, 0 to 7
    /// @param rnrRetries how often a message that found no receive is retried, 0 to 6, or 7 for no limit
    /// @throws IllegalArgumentException if a number is out of its range
    public ConnectionParameters withRetries(int retries, int rnrRetries) {
        return new ConnectionParameters(
                privateData, responderResources, initiatorDepth, retries, rnrRetries, ackTimeout);
    }

    /// These parameters with the time after which this side retransmits an unacknowledged request
    /// (`RDMA_OPTION_ID_ACK_TIMEOUT`, rdma_set_option(3)). The peer chooses its own. Needs
    /// [io.rdmacomm.verbs.Capability#CONNECTION_ACK_TIMEOUT].
    public ConnectionParameters withAckTimeout(AckTimeout value) {
        Objects.requireNonNull(value, "acknowledgement timeout");
        return new ConnectionParameters(privateData, responderResources, initiatorDepth, retryCount, rnrRetry, value);
    }

    /// A copy of the private data.
    public byte[] privateData() {
        return privateData.clone();
    }

    /// The number of READs and atomics that the peer may have in flight.
    public int responderResources() {
        return responderResources;
    }

    /// The number of READs and atomics that this side may have in flight.
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /// How often an unacknowledged request is retried.
    public int retryCount() {
        return retryCount;
    }

    /// How often a message that found no receive is retried; 7 means without limit.
    public int rnrRetry() {
        return rnrRetry;
    }

    /// How long an unacknowledged request waits before it is retransmitted; empty if the connection manager
    /// chooses.
    public Optional<AckTimeout> ackTimeout() {
        return Optional.ofNullable(ackTimeout);
    }

    private static void checkRange(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ", not " + value);
        }
    }
}
