package io.rdmacomm.ibverbs.cm;

/// The number of READs and atomics that may be in flight on a connection, as both sides agreed.
///
/// @param responderResources of the peer, answered by this side
/// @param initiatorDepth of this side
record ConnectionDepths(int responderResources, int initiatorDepth) {
    /// The lower of this side's limit and that of the peer's request.
    static ConnectionDepths ofRequest(int responderResources, int initiatorDepth, IdentifierEvent request) {
        return new ConnectionDepths(
                Math.min(responderResources, request.responderResources()),
                Math.min(initiatorDepth, request.initiatorDepth()));
    }

    /// The lower of what this side requested and what the peer answered. Some iWARP drivers swap the two numbers of
    /// an answer, so only the lower of both is safe.
    static ConnectionDepths ofAnswer(
            int responderResources, int initiatorDepth, IdentifierEvent answer, boolean iwarp) {
        int lower = Math.min(answer.responderResources(), answer.initiatorDepth());
        return new ConnectionDepths(
                Math.min(responderResources, iwarp ? lower : answer.responderResources()),
                Math.min(initiatorDepth, iwarp ? lower : answer.initiatorDepth()));
    }
}
