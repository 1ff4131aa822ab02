package io.rdmacomm.verbs.cm;

/// What each side of a connection asks for (`struct rdma_conn_param`, rdma_connect(3), rdma_accept(3)). Immutable.
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

    /// These parameters with other private data: bytes for the peer's program, delivered with the request or the
    /// answer, at most [ConnectionManager#privateDataLimit()].
    public ConnectionParameters withPrivateData(byte[] value) {
        return new ConnectionParameters(value.clone(), responderResources, initiatorDepth, retryCount, rnrRetry);
    }

    /// These parameters with other depths for READs and atomics.
    ///
    /// @param responder how many of the peer this side holds at once, 0 to 255
    /// @param initiator how many this side has outstanding at once, 0 to 255
    /// @throws IllegalArgumentException if a number is out of its range
    public ConnectionParameters withDepths(int responder, int initiator) {
        return new ConnectionParameters(privateData, responder, initiator, retryCount, rnrRetry);
    }

    /// These parameters with other retry counts; not used on iWARP.
    ///
    /// @param retries how often an unanswered request is repeated, 0 to 7
    /// @param rnrRetries how often a request is repeated whose peer had no receive, 7 for ever
    /// @throws IllegalArgumentException if a number is out of its range
    public ConnectionParameters withRetries(int retries, int rnrRetries) {
        return new ConnectionParameters(privateData, responderResources, initiatorDepth, retries, rnrRetries);
    }

    /// A copy of the bytes for the peer's program.
    public byte[] privateData() {
        return privateData.clone();
    }

    /// READs and atomics of the peer that this side holds at once.
    public int responderResources() {
        return responderResources;
    }

    /// READs and atomics that this side has outstanding at once.
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /// How often an unanswered request is repeated.
    public int retryCount() {
        return retryCount;
    }

    /// How often a request is repeated whose peer had no receive, 7 for ever.
    public int rnrRetry() {
        return rnrRetry;
    }

    private static void checkRange(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ", not " + value);
        }
    }
}
