package io.rdmacomm.ibverbs.cm;

/// How many READs and atomics go over a connection at once, as both sides agreed.
///
/// @param responderResources of the peer, held here
/// @param initiatorDepth of this side
record ConnectionDepths(int responderResources, int initiatorDepth) {
    /// The lower of what this side wants and what the peer's request says.
    static ConnectionDepths ofRequest(int responderResources, int initiatorDepth, IdentifierEvent request) {
        return new ConnectionDepths(
                Math.min(responderResources, request.responderResources()),
                Math.min(initiatorDepth, request.initiatorDepth()));
    }

    /// The lower of what this side asked for and what the peer's answer says. On iWARP some drivers, siw among
    /// them, report the two the other way round, so that only the lower of both is safe.
    static ConnectionDepths ofAnswer(
            int responderResources, int initiatorDepth, IdentifierEvent answer, boolean iwarp) {
        int lower = Math.min(answer.responderResources(), answer.initiatorDepth());
        return new ConnectionDepths(
                Math.min(responderResources, iwarp ? lower : answer.responderResources()),
                Math.min(initiatorDepth, iwarp ? lower : answer.initiatorDepth()));
    }
}
