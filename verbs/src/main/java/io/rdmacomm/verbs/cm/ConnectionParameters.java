package io.rdmacomm.verbs.cm;

/// The parameters that each side of a connection requests (`struct rdma_conn_param`, rdma_connect(3),
/// rdma_accept(3)). Immutable.
public final class ConnectionParameters {
    private static final ConnectionParameters DEFAULTS = new ConnectionParameters(new byte[0], 16, 16, 7, 7);

    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final int retryCount;
    private final int rnrRetry;

    private ConnectionParameters(
            byte[] privateData, int responderResources, int initiatorDepth, int retryCount, int rnrRetry) {
        checkRange("responder resources", responderResources, 255);
        checkRange("initiator depth", initiatorDepth, 255);
        checkRange("retry count", retryCount, 7);
        checkRange("RNR retry count", rnrRetry, 7);
        this.privateData = privateData;
        this.responderResources = responderResources;
        this.initiatorDepth = initiatorDepth;
        this.retryCount = retryCount;
        this.rnrRetry = rnrRetry;
    }

    /// No private data, 16 READs and atomics each way, 7 retries of each kind.
    public static ConnectionParameters defaults() {
        return DEFAULTS;
    }

    /// These parameters with other private data: bytes for the peer's program, delivered with the request or
    /// reply, at most [ConnectionManager#privateDataLimit()].
    public ConnectionParameters withPrivateData(byte[] value) {
        return new ConnectionParameters(value.clone(), responderResources, initiatorDepth, retryCount, rnrRetry);
    }

    /// These parameters with other depths for READs and atomics.
    ///
    /// @param responder how many the peer may have in flight, 0 to 255
    /// @param initiator how many this side may have in flight, 0 to 255
    /// @throws IllegalArgumentException if a number is out of its range
    public ConnectionParameters withDepths(int responder, int initiator) {
        return new ConnectionParameters(privateData, responder, initiator, retryCount, rnrRetry);
    }

    /// These parameters with other retry counts; not used on iWARP.
    ///
    /// @param retries how often an unacknowledged request is repeated, 0 to 7
    /// @param rnrRetries how often a message that found no receive is repeated, 0 to 6, or 7 for no limit
    /// @throws IllegalArgumentException if a number is out of its range
    public ConnectionParameters withRetries(int retries, int rnrRetries) {
        return new ConnectionParameters(privateData, responderResources, initiatorDepth, retries, rnrRetries);
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

    /// How often an unacknowledged request is repeated.
    public int retryCount() {
        return retryCount;
    }

    /// How often a message that found no receive is repeated; 7 means without limit.
    public int rnrRetry() {
        return rnrRetry;
    }

    private static void checkRange(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ", not " + value);
        }
    }
}
