package io.rdmacomm.soft.cm;

/// Limits on what unknown peers can make a listener hold. At each limit, the oldest connection is closed.
///
/// @param halfOpen how many connections may have an incomplete request; an honest peer sends its request at once
/// @param halfOpenOfAnOrigin how many of these may come from one address
/// @param requestNanos how long a request may take to arrive
/// @param waiting how many complete requests may wait to be taken
/// @param waitingOfAnOrigin how many of these may come from one address
public record AcceptLimits(
        int halfOpen, int halfOpenOfAnOrigin, long requestNanos, int waiting, int waitingOfAnOrigin) {
    private static final int HALF_OPEN = 256;
    private static final int HALF_OPEN_OF_AN_ORIGIN = 64;
    private static final long REQUEST_NANOS = 5_000_000_000L;
    /// Enough for the clients of a server that restarts. Each costs a TCP connection.
    private static final int LEAST_WAITING = 2048;

    /// The usual limits: 256 half-open connections and 5 seconds, as in Linux siw. Requests beyond the backlog
    /// wait, as with TCP.
    ///
    /// @param backlog how many complete requests may wait for the program
    public static AcceptLimits withBacklog(int backlog) {
        int waiting = Math.max(backlog, LEAST_WAITING);
        return new AcceptLimits(HALF_OPEN, HALF_OPEN_OF_AN_ORIGIN, REQUEST_NANOS, waiting, waiting / 4 * 3);
    }
}
